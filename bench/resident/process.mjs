// What benchmarks of the resident share: the program, an MCP server that answers, what a client says
// first, and the processor time of a process. Linux.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const ACP = fileURLToPath(new URL("../../packages/cli/bin/acp.cjs", import.meta.url));
export const SERVER = fileURLToPath(new URL("../mcp/echo-server.mjs", import.meta.url));
/** Parameters of `initialize`. */
export const PARAMS = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "bench", version: "1" },
};
export const env = { PATH: process.env.PATH, HOME: process.env.HOME, ACP_RESIDENT_SECONDS: "60" };

const TICKS_A_SECOND = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/** Processor time of a process so far, in milliseconds. */
export function cpuMs(pid) {
  const [, rest] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const fields = rest.split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_A_SECOND;
}
