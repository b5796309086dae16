// An allowed tools/call over stdio: added median latency, and requests a second with 64 calls in
// flight, direct, through a process that only passes bytes on, our proxy (log in memory, log
// durable), an SDK Server+Client hop and a proxy in Go, interleaved in one run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "./mcp/line-client.mjs";
import { compare, tell } from "./mcp/measure.mjs";
import { peer } from "./mcp/peers.mjs";

const at = (file) => fileURLToPath(new URL(`mcp/${file}`, import.meta.url));
const SIZES = {
  rounds: Number(process.env.ROUNDS ?? 6),
  calls: Number(process.env.CALLS ?? 400),
  burst: Number(process.env.BURST ?? 4_000),
};

const scratch = mkdtempSync(join(tmpdir(), "acp-bench-"));
const server = at("echo-server.mjs");
const go = peer("@chaindead/tooner_linux_amd64");
const contestants = {
  direct: [server],
  "raw pipe": [at("pipe-hop.mjs"), server],
  "acp, log in memory": [at("acp-hop.mjs"), server],
  "acp, durable log": [at("acp-hop.mjs"), server, join(scratch, "audit.jsonl")],
  "SDK Server+Client hop": [at("sdk-hop.mjs"), server],
  ...(go !== undefined && { "tooner (Go)": [process.execPath, server] }),
};
/** What is no program of Node. */
const programs = { "tooner (Go)": go };

const connects = Object.fromEntries(
  Object.entries(contestants).map(([name, args]) => [
    name,
    () => connect(args, { program: programs[name] }),
  ]),
);
try {
  tell(await compare(connects, SIZES), "direct", process.argv.includes("--json"));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
