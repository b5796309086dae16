import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { changedByAgent } from "./changed-by-agent.js";

const top = realpathSync(mkdtempSync(join(tmpdir(), "acp-changed-")));
const path = join(top, "work");
const script = join(path, "server.mjs");
const workspace = { path, access: "read-write" } as const;

beforeAll(() => {
  mkdirSync(path);
  mkdirSync(join(top, "workshop"));
  writeFileSync(script, "");
  writeFileSync(join(top, "workshop", "server.mjs"), "");
});
afterAll(() => rmSync(top, { recursive: true, force: true }));

describe("changedByAgent()", () => {
  it("names a script in the workspace that the server is shown", () => {
    const command = ["node", script];
    expect(changedByAgent({ name: "own", command, workspace: "read" }, workspace)).toEqual([
      script,
    ]);
    expect(changedByAgent({ name: "own", command, read: [path] }, workspace)).toEqual([script]);
  });

  it("names a working directory there, and what the command means in it", () => {
    const server = { name: "own", command: ["node", "server.mjs"], cwd: path } as const;
    expect(changedByAgent({ ...server, workspace: "write" }, workspace)).toEqual([path, script]);
  });

  it("names nothing that the server does not see or the agent cannot write", () => {
    const command = ["node", script];
    expect(changedByAgent({ name: "own", command }, workspace)).toEqual([]);
    expect(
      changedByAgent({ name: "own", command, workspace: "read" }, { path, access: "read-only" }),
    ).toEqual([]);
    expect(changedByAgent({ name: "own", command, workspace: "read" }, undefined)).toEqual([]);
  });

  it("names no folder that a server works on", () => {
    const command = ["mcp-server-filesystem", path];
    expect(changedByAgent({ name: "own", command, workspace: "write" }, workspace)).toEqual([]);
  });

  it("takes no folder for the workspace because its name begins alike", () => {
    const shop = join(top, "workshop");
    const command = ["node", join(shop, "server.mjs")];
    expect(
      changedByAgent({ name: "own", command, workspace: "read", read: [shop] }, workspace),
    ).toEqual([]);
  });
});
