/**
 * MCP inside `acp run`: an agent whose client starts `acp-mcp-bridge`, and one that is the client
 * itself, before the real file server in a sandbox of its own.
 */
import { chown, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EXIT_CODES } from "../src/exit-codes.js";
import { answerNext } from "./http-world.js";
import { fileServer, SERVER_PACKAGES } from "./mcp-client.js";
import { AGENT_UID, WAIT_FOR_GO, isolationsOf, needSandbox, runWorld } from "./run-world.js";
import type { RunWorld } from "./run-world.js";

const NAMESPACE = needSandbox("namespace");

const POLICY = `version: "1"
default_action: deny
rules:
  - { id: reads, match: { tool: "read_*" }, action: allow }
  - { id: writes, match: { tool: write_file }, action: ask }
`;

/**
 * A client with no library: it speaks over two streams, and tells on stderr what it was answered.
 */
const CLIENT = `import { createInterface } from "node:readline";
export async function talk(input, output, calls) {
  ${WAIT_FOR_GO}  const send = (message) => output.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  const lines = createInterface({ input })[Symbol.asyncIterator]();
  const answer = async (id) => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error("the server is gone");
      const message = JSON.parse(value);
      if (message.id === id && message.method === undefined) return message;
    }
  };
  send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "plain", version: "1" } } });
  await answer(1);
  send({ method: "notifications/initialized" });
  for (const [index, [name, args]] of calls.entries()) {
    const id = index + 2;
    send({ id, method: "tools/call", params: { name, arguments: args } });
    const { result, error } = await answer(id);
    console.error("call", name, result?._meta?.["acp/denied"]?.code ?? result?.content?.[0]?.text?.trim() ?? error?.message);
  }
}
`;
const BY_BRIDGE = `import { spawn } from "node:child_process";
import { talk } from "./client.mjs";
const bridge = spawn("acp-mcp-bridge", { stdio: ["pipe", "pipe", "inherit"] });
await talk(bridge.stdout, bridge.stdin, JSON.parse(process.argv[2]));
bridge.stdin.end();
bridge.on("exit", (code) => process.exit(code));
`;
const BY_STDIO = `import { talk } from "./client.mjs";
await talk(process.stdin, process.stdout, JSON.parse(process.argv[2]));
process.exit(4);
`;

/** Hears that its server is gone, and stays. */
const STAY = `process.stdout.on("error", () => {});
process.on("unhandledRejection", () => {});
setInterval(() => {}, 1000);`;

interface McpWorld extends RunWorld {
  readonly folder: string;
  /** Calls of the tools, as an argument of the agent. */
  readonly calls: string;
}

/** Makes the command the one server of config.yml. */
async function configure(
  { home, path }: RunWorld,
  [command = "", ...args]: readonly string[],
): Promise<void> {
  const server = JSON.stringify({
    name: "files",
    command,
    args,
    read: [SERVER_PACKAGES],
    write: [join(path, "files")],
  });
  await writeFile(
    join(home, "config.yml"),
    `version: "1"\nproxy:\n  upstream_servers:\n    - ${server}\n`,
    { mode: 0o600 },
  );
}

async function mcpWorld(): Promise<McpWorld> {
  const world = await runWorld({ policy: POLICY });
  const folder = join(world.path, "files");
  await mkdir(folder);
  await writeFile(join(folder, "a.txt"), "hello");
  if (process.getuid?.() === 0) await chown(folder, AGENT_UID, AGENT_UID);
  await configure(world, fileServer(folder));
  await world.write("client.mjs", CLIENT);
  await world.write("bridge.mjs", BY_BRIDGE);
  await world.write("stdio.mjs", BY_STDIO);
  const calls = [
    ["read_text_file", { path: join(folder, "a.txt") }],
    ["move_file", { source: join(folder, "a.txt"), destination: join(folder, "b.txt") }],
    ["write_file", { path: join(folder, "c.txt"), content: "written" }],
  ];
  return {
    ...world,
    folder,
    calls: JSON.stringify(calls),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

describe.skipIf(!NAMESPACE.run)(`MCP inside acp run ${NAMESPACE.reason}`, () => {
  it.each([
    ["through acp-mcp-bridge", [], "bridge.mjs", 0],
    ["on the agent's own standard streams", ["--mcp", "stdio"], "stdio.mjs", 4],
  ])("%s: the policy judges each call, and a person answers", async (_way, args, agent, code) => {
    await using world = await mcpWorld();
    await using running = world.start(["node", agent, world.calls], { args });
    await using _silent = await world.attach(running);
    await answerNext(world.home, ["--approve"]);
    const ended = await running.ended;
    const said = ended.stderr.split("\n").filter((line) => line.startsWith("call "));
    expect(said).toEqual([
      "call read_text_file hello",
      "call move_file policy_denied",
      expect.stringContaining("call write_file Successfully wrote"),
    ]);
    expect([ended.code, ended.stdout]).toEqual([code, ""]);
    expect((await readdir(world.folder)).sort()).toEqual(["a.txt", "c.txt"]);
    expect(await readFile(join(world.folder, "c.txt"), "utf8")).toBe("written");
    expect(isolationsOf(await world.events())).toEqual(["full:namespace"]);
  });

  it("serves several clients of an agent, each with a server of its own", async () => {
    await using world = await mcpWorld();
    await world.write("go", "");
    const read = JSON.stringify([["read_text_file", { path: join(world.folder, "a.txt") }]]);
    const { code, stderr } = await world.run([
      "sh",
      "-c",
      `node bridge.mjs '${read}' & node bridge.mjs '${read}'; first=$?; wait $!; echo $first $?`,
    ]);
    expect(code).toBe(0);
    expect(stderr.match(/call read_text_file hello/g)).toHaveLength(2);
  });

  it("has no MCP service where config.yml has no server, and says so", async () => {
    await using world = await mcpWorld();
    await writeFile(join(world.home, "config.yml"), 'version: "1"\n', { mode: 0o600 });
    const { code, stderr } = await world.run(["acp-mcp-bridge"], { input: "" });
    expect(code).not.toBe(0);
    expect(stderr).toContain("service");
    expect(await world.run(["true"], { args: ["--mcp", "stdio"] })).toMatchObject({
      code: EXIT_CODES.not_run.code,
    });
  });

  it("ends an agent on stdio whose server is lost", async () => {
    await using world = await mcpWorld();
    await configure(world, [process.execPath, "-e", "process.exit(1)"]);
    await world.write("go", "");
    await world.write(
      "stays.mjs",
      BY_STDIO.replace("await talk", "talk").replace("process.exit(4);", STAY),
    );
    const { code } = await world.run(["node", "stays.mjs", world.calls], {
      args: ["--mcp", "stdio"],
    });
    expect(code).toBe(143);
  });
});
