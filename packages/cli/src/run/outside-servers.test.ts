import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CommandUpstream } from "@acp/proxy-mcp";
import { outsideServer } from "./outside-servers.js";

let scratch: string;
let work: string;
beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "acp-outside-")));
  work = join(scratch, "work");
  mkdirSync(join(work, "node_modules/.bin"), { recursive: true });
});
afterEach(() => rmSync(scratch, { recursive: true }));

async function made(
  server: Partial<CommandUpstream>,
  env: Readonly<Record<string, string>> = {},
): Promise<CommandUpstream> {
  const whole = { name: "files", command: ["npx", "server"], ...server };
  return outsideServer(whole, { homeDir: scratch, workspaces: [work], io: { env, cwd: work } });
}

describe("outsideServer()", () => {
  it("starts each in a directory of its own, which is this user's alone", async () => {
    const { cwd = "", workspaces } = await made({});
    expect(cwd).toBe(join(scratch, "servers/files"));
    expect(statSync(cwd).mode & 0o777).toBe(0o700);
    expect(workspaces).toEqual([work]);
  });

  it("leaves out of PATH what the agent writes, and never leaves it empty", async () => {
    const PATH = `${work}/node_modules/.bin:node_modules/.bin:/usr/bin`;
    expect((await made({}, { PATH })).env).toMatchObject({ PATH: "/usr/bin" });
    expect((await made({ env: { PATH } })).env).toMatchObject({ PATH: "/usr/bin" });
    expect((await made({}, { PATH: `${work}/node_modules/.bin` })).env).toMatchObject({
      PATH: "/usr/local/bin:/usr/bin:/bin",
    });
  });

  it("passes on who the user is and what the configuration names, and nothing else", async () => {
    const env = {
      HOME: "/h",
      LC_ALL: "C",
      npm_config_registry: "http://127.0.0.1:1",
      NODE_OPTIONS: "--import=x",
      PYTHONPATH: work,
      TOKEN: "t",
    };
    const { env: given } = await made({ env: { API_KEY: "k" } }, env);
    expect(given).toEqual({ HOME: "/h", LC_ALL: "C", API_KEY: "k", PATH: expect.any(String) });
  });

  it("reads a command's path as it was written: from where acp was started", async () => {
    expect((await made({ command: ["./server", "./a"] })).command).toEqual([
      join(work, "server"),
      "./a",
    ]);
    expect((await made({ command: ["/usr/bin/node", "a"] })).command).toEqual([
      "/usr/bin/node",
      "a",
    ]);
  });

  it("throws config_invalid for a working directory in the workspace, or one that others can change", async () => {
    symlinkSync(work, join(scratch, "link"));
    mkdirSync(join(scratch, "open"));
    chmodSync(join(scratch, "open"), 0o777);
    for (const cwd of [work, join(work, "node_modules"), join(scratch, "link")])
      await expect(made({ cwd })).rejects.toMatchObject({
        code: "config_invalid",
        message: expect.stringContaining("in a workspace"),
      });
    await expect(made({ cwd: join(scratch, "open") })).rejects.toMatchObject({
      code: "config_invalid",
    });
    expect((await made({ cwd: "/usr" })).cwd).toBe("/usr");
  });
});
