// What the age of a home costs a resident gate: the start without an index and what it answers
// meanwhile, then starts with one, up to the answer of `initialize` and to that of a first call that
// the policy allows, each with the processor time and the memory of the resident. Homes of 1 and 30
// days, or those of ACP_BENCH_HOMES=name=dir,name=dir, which stay; with ACP_BENCH_KEEP_INDEX=1 their
// indexes do, too, and the first start has one. STARTS=5. Linux.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { buildHome, logBytes } from "./home/build-home.mjs";
import { ACP, PARAMS, SERVER, cpuMs, env } from "./resident/process.mjs";
import { fixed, summary } from "./samples.mjs";

const isJson = process.argv.includes("--json");
if (process.platform !== "linux") {
  console.log(isJson ? "null" : "  left out: Linux only");
  process.exit(0);
}
const STARTS = Number(process.env.STARTS ?? 5);
/** Between the calls while an index is made. */
const PAUSE_MS = 100;
const CALL = { name: "echo", arguments: { text: "hello" } };

const scratch = mkdtempSync(join(process.env.ACP_BENCH_DIR ?? tmpdir(), "acp-bench-ages-"));

const median = (list) => summary(list).p50;

/** Processor time and largest memory of a live process. */
function used(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return {
    cpuMs: cpuMs(pid),
    peakMb: Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024,
  };
}

const serving = (home) =>
  [...readFileSync(join(home, "run", "resident.log"), "utf8").matchAll(/as process (\d+)/g)].at(-1);

/** A client, and the resident that it starts. */
function startClient(home) {
  const args = ["mcp", "--resident", "--home", home, "--", process.execPath, SERVER];
  // No program of the folder that a client works in is started.
  const options = { env, cwd: scratch, stdio: ["pipe", "pipe", "ignore"] };
  const child = spawn(process.execPath, [ACP, ...args], options);
  const waiting = new Map();
  let [id, rest] = [0, ""];
  child.stdout.setEncoding("utf8").on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const answer = JSON.parse(line);
      waiting.get(answer.id)?.(answer);
    }
  });
  const send = (message) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return {
    ask(method, params) {
      const own = id++;
      send({ id: own, method, params });
      return new Promise((resolve) => waiting.set(own, resolve));
    },
    tell: (method) => send({ method }),
    resident: () => Number(serving(home)?.[1]),
    kill() {
      const ended = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGKILL");
      return ended;
    },
  };
}

/** Ends the resident as a crash does. */
async function kill(pid) {
  process.kill(pid, "SIGKILL");
  for (let isThere = true; isThere; await wait(5))
    try {
      process.kill(pid, 0);
    } catch {
      isThere = false;
    }
}

/** From the start of a client to its first call that goes through. */
async function start(home) {
  const began = performance.now();
  const client = startClient(home);
  await client.ask("initialize", PARAMS);
  const initializeMs = performance.now() - began;
  client.tell("notifications/initialized");
  const pid = client.resident();
  const refusedMs = [];
  for (let isRefused = true; isRefused; ) {
    const asked = performance.now();
    const { error } = await client.ask("tools/call", CALL);
    isRefused = error?.data?.code === "index_rebuilding";
    if (isRefused) {
      refusedMs.push(performance.now() - asked);
      await wait(PAUSE_MS);
    } else if (error !== undefined) throw new Error(JSON.stringify(error));
  }
  const callMs = performance.now() - began;
  const figures = { initializeMs, callMs, refusedMs, ...used(pid) };
  // Before the resident, of which it would start another one.
  await client.kill();
  await kill(pid);
  return figures;
}

async function measure(home) {
  writeFileSync(join(home, "policy.yml"), 'version: "1"\ndefault_action: allow\n', { mode: 0o600 });
  // More than 2 GiB would be removed meanwhile.
  const kept = "audit: { keep_days: 36500, keep_megabytes: 1048576 }\n";
  writeFileSync(join(home, "config.yml"), `version: "1"\n${kept}`, { mode: 0o600 });
  if (process.env.ACP_BENCH_KEEP_INDEX !== "1")
    for (const name of readdirSync(home))
      if (/\.(index|lookup)$/.test(name)) rmSync(join(home, name));
  const first = await start(home);
  const starts = [];
  for (let each = 0; each < STARTS; each++) starts.push(await start(home));
  const of = (key) => median(starts.map((each) => each[key]));
  const slowest = Math.max(0, ...first.refusedMs);
  return {
    megabytes: logBytes(home) / 1e6,
    first: { ...first, refusedMs: undefined, refused: first.refusedMs.length, slowest },
    again: Object.fromEntries(
      ["initializeMs", "callMs", "cpuMs", "peakMb"].map((key) => [key, of(key)]),
    ),
    load: loadavg()[0],
  };
}

try {
  const homes = Object.fromEntries(
    (process.env.ACP_BENCH_HOMES ?? "")
      .split(",")
      .filter(Boolean)
      .map((each) => each.split("=")),
  );
  if (process.env.ACP_BENCH_HOMES === undefined)
    for (const days of [1, 30]) {
      const dir = join(scratch, `${days}`);
      await buildHome({ dir, days });
      homes[`${days} days`] = dir;
    }
  const result = {};
  for (const [name, home] of Object.entries(homes)) {
    const { megabytes, first, again, load } = (result[name] = await measure(home));
    if (isJson) continue;
    console.log(`  ${name}: ${fixed(megabytes)} MB of log (load ${fixed(load)})`);
    console.log(
      `    without an index: initialize ${fixed(first.initializeMs)} ms, a call goes through after ${fixed(first.callMs)} ms, ${fixed(first.cpuMs)} ms CPU, ${fixed(first.peakMb)} MB; ${first.refused} calls answered meanwhile, the slowest in ${fixed(first.slowest)} ms`,
    );
    console.log(
      `    with one: initialize ${fixed(again.initializeMs)} ms, a call goes through after ${fixed(again.callMs)} ms, ${fixed(again.cpuMs)} ms CPU, ${fixed(again.peakMb)} MB`,
    );
  }
  if (isJson) console.log(JSON.stringify({ starts: STARTS, result }));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
