/**
 * `acp run` with MCP servers that do what their client says, and an agent that calls them.
 */
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runWorld } from "./run-world.js";
import type { RunWorld } from "./run-world.js";

const HOSTILE = new URL("fixtures/hostile-server.mjs", import.meta.url).pathname;

/**
 * The agent: one call of a server's tool, whose answer it prints. Of several servers, each tool is
 * named by its own.
 */
const CALL = `import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
const [calls] = process.argv.slice(2).map((text) => JSON.parse(text));
const bridge = spawn("acp-mcp-bridge", { stdio: ["pipe", "pipe", "inherit"] });
const send = (message) => bridge.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const lines = createInterface({ input: bridge.stdout })[Symbol.asyncIterator]();
const answer = async (id) => {
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error("no answer");
    const message = JSON.parse(value);
    if (message.id === id) return message;
  }
};
send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } } });
await answer(1);
send({ method: "notifications/initialized" });
let id = 1;
for (const [name, script] of calls) {
  id += 1;
  send({ id, method: "tools/call", params: { name, arguments: { script } } });
  const { result, error } = await answer(id);
  console.log(result?.content?.[0]?.text ?? error?.message ?? JSON.stringify(result));
}
bridge.stdin.end();
await new Promise((resolve) => bridge.on("exit", resolve));
`;

/** Tools are allowed, and nothing else. */
export const POLICY = `version: "1"
default_action: deny
rules:
  - { id: tools, match: { tool: "*" }, action: allow }
`;

/** An entry of `proxy.upstream_servers`. */
export type Server = Readonly<Record<string, unknown>> & { readonly name: string };

/** A world with servers. */
export interface ServersWorld extends RunWorld {
  /** Makes these the servers; each runs the hostile one. */
  serve(...servers: readonly Server[]): Promise<void>;
  /** Runs scripts in servers, one after the other, and gives what they print. */
  call(
    calls: readonly (readonly [tool: string, script: string])[],
    args?: readonly string[],
  ): Promise<string>;
}

/** Makes it. */
export async function serversWorld(policy = POLICY): Promise<ServersWorld> {
  const world = await runWorld({ policy });
  const programs = join(world.path, "programs");
  await mkdir(programs);
  await chmod(programs, 0o755);
  await copyFile(HOSTILE, join(programs, "server.mjs"));
  await chmod(join(programs, "server.mjs"), 0o644);
  await world.write("call.mjs", CALL);
  await world.write("secret", "of the workspace");
  const read = [programs];
  return {
    ...world,
    serve: async (...servers) => {
      const lines = servers.map((server) =>
        JSON.stringify({
          command: process.execPath,
          args: [join(programs, "server.mjs")],
          read,
          ...server,
        }),
      );
      const text = `version: "1"\nproxy:\n  private_hosts: ["${world.authority}"]\n  upstream_servers:\n${lines.map((line) => `    - ${line}\n`).join("")}`;
      await writeFile(join(world.home, "config.yml"), text, { mode: 0o600 });
    },
    call: async (calls, args = []) =>
      (await world.run(["node", "call.mjs", JSON.stringify(calls)], { args })).stdout,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}
