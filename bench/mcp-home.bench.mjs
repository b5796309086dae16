// What people run: `acp mcp` with the home that `acp init` makes, its keys and its durable log, by
// the home's resident gate and alone; beside the server without a hop, a hop that passes bytes, and
// the SDK's own, interleaved in one run. One allowed tools/call: latency, and calls a second with 64
// in flight, and the processor time of each in ACP's processes. ACP_BENCH_DAYS=30: homes that were
// used for so long instead of new ones. ACP_BENCH_HOME: copies of this home.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { connect } from "./mcp/line-client.mjs";
import { IN_FLIGHT, latency, throughput } from "./mcp/measure.mjs";
import { cpuMs } from "./resident/process.mjs";
import { fixed, summary } from "./samples.mjs";

const at = (file) => fileURLToPath(new URL(file, import.meta.url));
const isJson = process.argv.includes("--json");
const ROUNDS = Number(process.env.ROUNDS ?? 6);
const CALLS = Number(process.env.CALLS ?? 400);
const BURST = Number(process.env.BURST ?? 4_000);
const acp = at("../packages/cli/bin/acp.cjs");
const server = at("mcp/echo-server.mjs");
const scratch = mkdtempSync(join(process.env.ACP_BENCH_DIR ?? tmpdir(), "acp-bench-"));
const POLICY = `version: "1"
default_action: deny
rules:
  - { id: echo, match: { tool: echo }, action: allow }
`;
delete process.env.ACP_ALONE;

/** A home to copy; `undefined` for new ones. */
async function usedHome() {
  const days = Number(process.env.ACP_BENCH_DAYS ?? 0);
  if (days === 0) return process.env.ACP_BENCH_HOME;
  const { buildHome } = await import("./home/build-home.mjs");
  const dir = join(scratch, "used");
  await buildHome({ dir, days });
  return dir;
}
const used = await usedHome();

function makeHome(name) {
  const home = join(scratch, name);
  if (used !== undefined) cpSync(used, home, { recursive: true });
  else {
    const { status, stderr } = spawnSync(process.execPath, [acp, "init", "--home", home]);
    if (status !== 0) throw new Error(String(stderr));
  }
  writeFileSync(join(home, "policy.yml"), POLICY, { mode: 0o600 });
  return home;
}

const homes = { resident: makeHome("r"), alone: makeHome("a") };
const mcp = (home, ...more) => [
  acp,
  "mcp",
  "--home",
  home,
  ...more,
  "--",
  process.execPath,
  server,
];
const contestants = {
  direct: [server],
  "raw pipe": [at("mcp/pipe-hop.mjs"), server],
  "SDK Server+Client hop": [at("mcp/sdk-hop.mjs"), server],
  "acp mcp": mcp(homes.resident),
  "acp mcp --alone": mcp(homes.alone, "--alone"),
};

const [clients, samples, rates, first, pids] = [{}, {}, {}, {}, {}];
/** Processor milliseconds of calls: one after the other, and many in flight. */
const [cpuOfOne, cpuOfMany] = [{}, {}];
const residentPid = () => {
  const words = ["resident", "status", "--json", "--home", homes.resident];
  const { stdout } = spawnSync(process.execPath, [acp, ...words]);
  return JSON.parse(String(stdout)).pid;
};
/** A home of long ago has its index made first: until then calls are refused. */
async function firstCall({ call }, triesLeft = 120) {
  const start = performance.now();
  try {
    await call("first");
    return performance.now() - start;
  } catch (error) {
    if (triesLeft === 0) throw error;
    await setTimeout(1_000);
    return firstCall({ call }, triesLeft - 1);
  }
}
/** Does something, and adds up what it takes of the processor in some processes. */
async function counted(spent, name, work) {
  const sum = () => (pids[name] ?? []).reduce((total, pid) => total + cpuMs(pid), 0);
  const before = sum();
  const result = await work();
  spent[name] = (spent[name] ?? 0) + sum() - before;
  return result;
}
try {
  for (const [name, args] of Object.entries(contestants)) {
    // A resident is not started from a folder with its own code.
    clients[name] = await connect(args, { cwd: scratch });
    samples[name] = [];
    rates[name] = [];
    first[name] = (await firstCall(clients[name])) * 1_000;
    await latency(clients[name], CALLS);
    if (name === "acp mcp") pids[name] = [clients[name].pid, residentPid()];
    if (name === "acp mcp --alone") pids[name] = [clients[name].pid];
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, client] of Object.entries(clients))
      samples[name].push(...(await counted(cpuOfOne, name, () => latency(client, CALLS))));
    for (const [name, client] of Object.entries(clients))
      rates[name].push(await counted(cpuOfMany, name, () => throughput(client, BURST)));
  }
} finally {
  await Promise.all(Object.values(clients).map(({ end }) => end()));
  spawnSync(process.execPath, [acp, "resident", "stop", "--home", homes.resident]);
  rmSync(scratch, { recursive: true, force: true });
}

const pipe = summary(samples["raw pipe"]);
const results = Object.fromEntries(
  Object.entries(samples).map(([name, list]) => {
    const { p50, p99 } = summary(list);
    const perSecond = summary(rates[name]).p50;
    const cpu = {
      one: (cpuOfOne[name] * 1_000) / ROUNDS / CALLS,
      many: (cpuOfMany[name] * 1_000) / ROUNDS / BURST,
    };
    const overPipeP50 = p50 - pipe.p50;
    return [
      name,
      { p50, p99, overPipeP50, first: first[name], perSecond, ...(name in pids && { cpu }) },
    ];
  }),
);
if (isJson) console.log(JSON.stringify({ unit: "µs", results }));
else
  for (const [name, { p50, p99, overPipeP50, first: one, perSecond, cpu }] of Object.entries(
    results,
  ))
    console.log(
      `  ${name.padEnd(22)} p50 ${fixed(p50).padStart(5)} µs  p99 ${fixed(p99).padStart(6)} µs  over a pipe ${fixed(overPipeP50).padStart(5)} µs  first ${fixed(one).padStart(6)} µs  ${fixed(perSecond).padStart(7)} calls/s at ${IN_FLIGHT} in flight` +
        (cpu === undefined
          ? ""
          : `  CPU a call ${fixed(cpu.one)} µs, in flight ${fixed(cpu.many)} µs`),
    );
