// An allowed tools/call over stdio: added median latency, and requests a second with 64 calls in
// flight, direct, through a process that only passes bytes on, our proxy (log in memory, log
// durable), an SDK Server+Client hop and a proxy in Go, interleaved in one run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "./mcp/line-client.mjs";
import { IN_FLIGHT, latency, throughput } from "./mcp/measure.mjs";
import { peer } from "./mcp/peers.mjs";
import { fixed, summary } from "./samples.mjs";

const at = (file) => fileURLToPath(new URL(`mcp/${file}`, import.meta.url));
const isJson = process.argv.includes("--json");
const ROUNDS = Number(process.env.ROUNDS ?? 6);
const CALLS = Number(process.env.CALLS ?? 400);
const BURST = Number(process.env.BURST ?? 4_000);

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

const clients = {};
const samples = {};
const rates = {};
try {
  for (const [name, args] of Object.entries(contestants)) {
    clients[name] = await connect(args, { program: programs[name] });
    samples[name] = [];
    rates[name] = [];
    await latency(clients[name], CALLS);
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, client] of Object.entries(clients))
      samples[name].push(...(await latency(client, CALLS)));
    for (const [name, client] of Object.entries(clients))
      rates[name].push(await throughput(client, BURST));
  }
} finally {
  await Promise.all(Object.values(clients).map(({ end }) => end()));
  rmSync(scratch, { recursive: true, force: true });
}

const direct = summary(samples.direct);
const results = Object.fromEntries(
  Object.entries(samples).map(([name, list]) => {
    const { p50, p99 } = summary(list);
    return [name, { p50, p99, addedP50: p50 - direct.p50, perSecond: summary(rates[name]).p50 }];
  }),
);
if (isJson) console.log(JSON.stringify({ unit: "µs", results }));
else {
  for (const [name, { p50, p99, addedP50, perSecond }] of Object.entries(results)) {
    console.log(
      `  ${name.padEnd(22)} p50 ${fixed(p50).padStart(5)} µs  p99 ${fixed(p99).padStart(6)} µs  added ${fixed(addedP50).padStart(5)} µs  ${fixed(perSecond).padStart(7)} requests/s at ${IN_FLIGHT} in flight`,
    );
  }
}
