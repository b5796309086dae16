// What the age of a home costs: starts of the real `acp mcp --alone` before a server that answers at once,
// from exec to the answer of `initialize`, and look-ups in its log; homes of 1 and 30 days, and of
// ACP_BENCH_HOME_BYTES bytes of log where that is set. Each start finds work that a killed process
// left open. Beside one start of Node in the same round. Linux: memory is read from /proc.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openAuditLog } from "@acp/audit";
import { buildHome } from "./home/build-home.mjs";
import { fixed, summary } from "./samples.mjs";

const isJson = process.argv.includes("--json");
const STARTS = Number(process.env.STARTS ?? 5);
if (process.platform !== "linux") {
  console.log(isJson ? "null" : "  left out: Linux only");
  process.exit(0);
}
const ACP = fileURLToPath(new URL("../packages/cli/bin/acp.cjs", import.meta.url));
const SERVER = fileURLToPath(new URL("mcp/echo-server.mjs", import.meta.url));
const DAYS = (process.env.ACP_BENCH_HOME_DAYS ?? "1,30").split(",").filter(Boolean).map(Number);
const BYTES = process.env.ACP_BENCH_HOME_BYTES;
const scratch = mkdtempSync(join(process.env.ACP_BENCH_DIR ?? tmpdir(), "acp-bench-home-"));
const HELLO = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "b", version: "1" },
  },
};

/** Largest resident memory of a live process, in MB. */
function peakMb(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

/** One start; the process is killed, as many a client does. */
async function start(dir) {
  const began = performance.now();
  const child = spawn(
    process.execPath,
    [ACP, "mcp", "--alone", "--home", dir, "--", process.execPath, SERVER],
    {
      stdio: ["pipe", "pipe", "ignore"],
    },
  );
  child.stdin.write(`${JSON.stringify(HELLO)}\n`);
  await new Promise((resolve, reject) => {
    child.stdout.once("data", resolve);
    child.once("exit", (code) => reject(new Error(`acp mcp --alone ended with ${code}`)));
  });
  const ms = performance.now() - began;
  const mb = peakMb(child.pid);
  child.removeAllListeners("exit");
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
  return { ms, mb };
}

async function bareNode() {
  const began = performance.now();
  const script = "process.stdout.write('x'); setTimeout(() => 0, 60_000)";
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const sample = { ms: performance.now() - began, mb: peakMb(child.pid) };
  child.kill("SIGKILL");
  return sample;
}

/** A question and a call without an end, as a killed gate leaves them. */
async function leaveOpen(dir) {
  const log = await openAuditLog({ path: join(dir, "audit.jsonl") });
  const event = (eventType, decision) => ({
    id: `ae_${crypto.randomUUID()}`,
    atMs: Date.now(),
    eventType,
    requestId: eventType === "consent_requested" ? `cr_${crypto.randomUUID()}` : "",
    agent: "claude-code",
    tool: "write_file",
    category: "write",
    riskLevel: "medium",
    decision,
    responseTimeMs: 3,
    policyRule: "ask-writes",
    metadata: { isolation: "none" },
  });
  await log.append([event("consent_requested", "ask"), event("tool_call_forwarded", "allow")]);
  await log.close();
}

function lookUp(dir, args) {
  const began = performance.now();
  const { status, stderr } = spawnSync(
    process.execPath,
    [ACP, "audit", "show", "--home", dir, ...args],
    { encoding: "utf8", maxBuffer: 2 ** 30 },
  );
  if (status !== 0) throw new Error(`acp audit show ${args.join(" ")}: ${stderr}`);
  return { ms: performance.now() - began, mb: 0 };
}

const LOOK_UPS = {
  show: [],
  "show --agent --decision": ["--agent", "cursor", "--decision", "deny"],
  "show --since": ["--since", "2h"],
};

async function measure(name, options) {
  const dir = join(scratch, name);
  const built = await buildHome({ dir, ...options });
  const contestants = {
    start: async () => (await leaveOpen(dir), start(dir)),
    ...Object.fromEntries(
      Object.entries(LOOK_UPS).map(([each, args]) => [each, () => lookUp(dir, args)]),
    ),
  };
  const samples = Object.fromEntries(Object.keys(contestants).map((each) => [each, []]));
  for (let round = 0; round < STARTS; round++) {
    const node = await bareNode();
    for (const [each, run] of Object.entries(contestants)) {
      const { ms, mb } = await run();
      samples[each].push({ ms, mb, timesNode: ms / node.ms, mbTimesNode: mb / node.mb });
    }
  }
  const first = samples.start[0];
  const median = (list, key) => summary(list.map((each) => each[key])).p50;
  const figures = Object.fromEntries(
    Object.entries(samples).map(([each, list]) => [
      each,
      Object.fromEntries(["ms", "mb", "timesNode", "mbTimesNode"].map((k) => [k, median(list, k)])),
    ]),
  );
  return { built, first, figures };
}

try {
  const result = {};
  const sizes = Object.fromEntries(DAYS.map((days) => [`${days} days`, { days }]));
  if (BYTES !== undefined) sizes[`${BYTES} bytes`] = { bytes: Number(BYTES) };
  for (const [name, options] of Object.entries(sizes)) {
    const { built, first, figures } = await measure(name.replaceAll(" ", "-"), options);
    result[name] = { built, first, figures };
    if (isJson) continue;
    console.log(`  ${name}: ${built.calls} calls, ${fixed(built.bytes / 1e6)} MB of log`);
    const say = (what, { ms, mb, timesNode, mbTimesNode }) =>
      console.log(
        `    ${what.padEnd(26)} ${fixed(ms).padStart(6)} ms (${fixed(timesNode)} × Node)` +
          (mb === 0 ? "" : `  ${fixed(mb).padStart(5)} MB (${fixed(mbTimesNode)} × Node)`),
      );
    say("first start", first);
    for (const [what, figure] of Object.entries(figures)) say(what, figure);
  }
  if (isJson) console.log(JSON.stringify({ starts: STARTS, result }));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
