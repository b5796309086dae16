// A client that costs little: writes request lines, finds the id of each answer, times the way
// between.
import { spawn } from "node:child_process";

/**
 * Starts a server, in this process's directory unless told where, and completes the handshake.
 *
 * @param program - What to start with the arguments: Node unless told otherwise.
 */
export async function connect(args, { cwd, program = process.execPath } = {}) {
  const child = spawn(program, args, { cwd, stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  let rest = "";
  let nextId = 0;
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line);
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
  const request = (method, params) =>
    new Promise((resolve) => {
      const id = nextId++;
      waiting.set(id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  const call = async (text, name = "echo") => {
    const { result } = await request("tools/call", { name, arguments: { text } });
    if (result?.content?.[0]?.text !== text || result.isError === true)
      throw new Error(`the call came back as ${JSON.stringify(result)}`);
  };
  await request("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "bench", version: "1" },
  });
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  const { result: listed, error } = await request("tools/list", {});
  if (listed === undefined) throw new Error(JSON.stringify(error));
  return {
    call,
    /** Names of the tools that are listed at first. */
    tools: listed.tools.map(({ name }) => name),
    pid: child.pid,
    end: () =>
      new Promise((resolve) => {
        child.once("exit", resolve);
        child.stdin.end();
        // Not everybody's proxy ends with its input.
        setTimeout(() => child.kill(), 5_000).unref();
      }),
  };
}
