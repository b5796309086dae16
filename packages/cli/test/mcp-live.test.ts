/**
 * The configuration of a running `acp mcp` is changed: real servers are added, restarted, changed and
 * removed, and the client stays connected.
 */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { acp, scratch } from "./harness.js";
import { fileServer, startGated } from "./mcp-client.js";
import type { Gated } from "./mcp-client.js";

const require = createRequire(new URL("../../proxy-mcp/package.json", import.meta.url));
const EVERYTHING = join(
  dirname(require.resolve("@modelcontextprotocol/server-everything/package.json")),
  "dist/index.js",
);
const POLICY = 'version: "1"\ndefault_action: allow\n';

const files = (folder: string): object => {
  const [command, ...args] = fileServer(folder);
  return { name: "files", command, args };
};
const everything = (more: object = {}): object => ({
  name: "everything",
  command: process.execPath,
  args: [EVERYTHING],
  ...more,
});

/** As an editor writes it: at once, and another file than before. */
async function configure(file: string, servers: readonly object[] | string): Promise<void> {
  const text =
    typeof servers === "string"
      ? servers
      : `${JSON.stringify({ version: "1", proxy: { upstream_servers: servers } })}\n`;
  await writeFile(`${file}.next`, text, { mode: 0o600 });
  await rename(`${file}.next`, file);
}

/** Has the client look at its tools whenever it is told that they changed. */
function listing(gated: Gated): {
  tools(isThere: (names: readonly string[]) => boolean): Promise<void>;
} {
  let wake: () => void = () => {};
  let told = new Promise<void>((resolve) => (wake = resolve));
  gated.client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    wake();
    told = new Promise((resolve) => (wake = resolve));
  });
  return {
    async tools(isThere) {
      for (;;) {
        const next = told;
        const { tools } = await gated.client.listTools();
        if (isThere(tools.map(({ name }) => name))) return;
        await next;
      }
    },
  };
}

/** Calls again until the answer has the text: a server may still be the one of before. */
async function until(
  gated: Gated,
  wanted: string,
  ...of: Parameters<Gated["call"]>
): Promise<void> {
  while (!(await gated.call(...of)).text.includes(wanted))
    await new Promise((resolve) => setTimeout(resolve, 100));
}

describe.each([
  ["the resident", true],
  ["a process of its own", false],
])("a client of %s", (_of, isResident) => {
  it("stays connected while servers come, change, restart and go", async () => {
    await using at = await scratch();
    const [home, folder] = [join(at.path, "h"), join(at.path, "files")];
    const config = join(home, "config.yml");
    await mkdir(folder);
    await writeFile(join(folder, "a.txt"), "hello");
    await mkdir(home, { mode: 0o700 });
    await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
    await configure(config, [files(folder)]);
    await using gated = await startGated({ home, folder, server: [], isResident });
    const list = listing(gated);
    expect(await gated.call("read_text_file", { path: "a.txt" })).toMatchObject({ text: "hello" });

    await configure(config, [files(folder), everything()]);
    await list.tools(
      (names) => names.includes("everything__echo") && names.includes("files__read_text_file"),
    );
    expect(await gated.call("everything__echo", { message: "m" })).toMatchObject({
      text: "Echo: m",
    });
    expect(await gated.call("files__read_text_file", { path: "a.txt" })).toMatchObject({
      text: "hello",
    });

    // What does not load changes nothing.
    await configure(config, "version: [\n");
    await gated.said("the servers stay as they are");
    expect(await gated.call("everything__echo", { message: "n" })).toMatchObject({
      text: "Echo: n",
    });

    await configure(config, [files(folder), everything({ env: { GREETING: "other" } })]);
    await gated.said("restarts everything");
    await until(gated, '"GREETING": "other"', "everything__get-env", {});

    if (isResident) {
      const restarted = await acp(["mcp", "restart", "everything", "--home", home, "--json"]);
      expect(JSON.parse(restarted.stdout)).toMatchObject({
        restarted: [{ servers: ["everything"] }],
      });
      await gated.said('Server "everything" is back');
      expect(await gated.call("everything__echo", { message: "o" })).toMatchObject({
        text: "Echo: o",
      });
      const other = await acp(["mcp", "restart", "other", "--home", home]);
      expect(other.code).toBe(5);
      const status = await acp(["resident", "status", "--home", home, "--json"]);
      expect(JSON.parse(status.stdout)).toMatchObject({
        clients: [{ servers: ["files", "everything"] }],
      });
    }

    await configure(config, [files(folder)]);
    await list.tools((names) => names.every((name) => name.startsWith("files__")));
    expect(await gated.call("files__read_text_file", { path: "a.txt" })).toMatchObject({
      text: "hello",
    });
    const log = await readFile(join(home, "audit.jsonl"), "utf8");
    expect(log).toContain("adds everything");
    expect(log).toContain("removes everything");
  });
});

it("a configuration where the agent works is not read while clients are connected", async () => {
  await using at = await scratch();
  const [home, folder] = [join(at.path, "h"), join(at.path, "files")];
  const config = join(folder, "acp.yml");
  await mkdir(folder);
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
  await configure(config, [files(folder)]);
  await using gated = await startGated({ home, folder, server: [], args: ["--config", config] });
  await configure(config, [files(folder), everything()]);
  await gated.said("where the agent or a server may write");
  const { tools } = await gated.client.listTools();
  expect(tools.map(({ name }) => name)).toContain("read_text_file");
});
