// What the questions of an operator cost in a home of 30 days: each is one documented command of
// the real `acp`, by wall clock, processor time and peak memory, beside a start of Node in the same
// round; ACP_BENCH_HOME_BYTES instead of days for a home of so many bytes of log, and
// ACP_BENCH_HOME names one that is there already. ROUNDS=3.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readAuditLogBackward } from "@acp/audit";
import { buildHome, logBytes } from "./home/build-home.mjs";
import { fixed, summary } from "./samples.mjs";

const isJson = process.argv.includes("--json");
const ROUNDS = Number(process.env.ROUNDS ?? 3);
const BYTES = process.env.ACP_BENCH_HOME_BYTES;
const ACP = fileURLToPath(new URL("../packages/cli/bin/acp.cjs", import.meta.url));
const USAGE = fileURLToPath(new URL("home/usage.cjs", import.meta.url));
const SERVER = fileURLToPath(new URL("mcp/echo-server.mjs", import.meta.url));
const DAY_MS = 86_400_000;
const scratch = mkdtempSync(join(process.env.ACP_BENCH_DIR ?? tmpdir(), "acp-bench-questions-"));

/** Runs a program to its end: how long, and what it used. */
function measure(args, { input } = {}) {
  const began = performance.now();
  const { status, output } = spawnSync(process.execPath, ["--require", USAGE, ...args], {
    encoding: "utf8",
    maxBuffer: 2 ** 30,
    // What it prints can be a gigabyte, and a process that held it would give it to its children.
    stdio: [input === undefined ? "ignore" : "pipe", "ignore", "pipe", "pipe"],
    input,
  });
  const used = JSON.parse(output[3] || "{}");
  return { ms: performance.now() - began, status, said: output[2].trim(), ...used };
}

/** A gate that starts brings the indexes of the home's logs up to their ends. */
async function startOnce(home) {
  const child = spawn(
    process.execPath,
    [ACP, "mcp", "--alone", "--home", home, "--", process.execPath, SERVER],
    { stdio: ["pipe", "pipe", "ignore"] },
  );
  const protocol = { protocolVersion: "2025-06-18", capabilities: {} };
  const params = { ...protocol, clientInfo: { name: "b", version: "1" } };
  const hello = { jsonrpc: "2.0", id: 0, method: "initialize", params };
  child.stdin.write(`${JSON.stringify(hello)}\n`);
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.stdin.end();
  await ended;
}

/** What is asked about: events from the middle of the log. */
async function findSubjects(home) {
  const untilMs = Date.now() - 12 * DAY_MS;
  const wanted = { filter: { eventType: "consent_requested", untilMs } };
  for await (const event of readAuditLogBackward(join(home, "audit.2.jsonl"), wanted))
    return { request: event.requestId, event: event.id, atMs: event.atMs };
  throw new Error(`Cannot find a question in "${home}"`);
}

function questionsFor({ request, event, atMs }) {
  const day = new Date(atMs).toISOString().slice(0, 10);
  const until = new Date(atMs + 3_600_000).toISOString();
  return {
    "why cr_… (whole)": ["why", request],
    "why cr_… (beginning)": ["why", request.slice(0, 14)],
    "why ae_… (whole)": ["why", event],
    "why ae_… (beginning)": ["why", event.slice(0, 14)],
    "why of an ID that is nowhere": ["why", "cr_00000000-0000-4000-8000-000000000000"],
    "why of a number": ["why", "120000"],
    "why TIME": ["why", new Date(atMs).toISOString()],
    "why DAY --denied": ["why", day, "--denied"],
    "audit show": ["audit", "show"],
    "audit show --agent": ["audit", "show", "--agent", "cursor"],
    "audit show --agent --decision": ["audit", "show", "--agent", "cursor", "--decision", "deny"],
    "audit show --request": ["audit", "show", "--request", request],
    "audit show --approver": ["audit", "show", "--approver", "operator"],
    "audit show --approver (none)": ["audit", "show", "--approver", "nobody"],
    "audit show --since --until": ["audit", "show", "--since", day, "--until", until],
    "audit show --since 2h": ["audit", "show", "--since", "2h"],
    pending: ["pending"],
    grants: ["grants"],
    "keys list": ["keys", "list"],
    "keys repair": ["keys", "repair"],
    "vault list": ["vault", "list"],
    "passkeys list": ["passkeys", "list"],
    "resident status": ["resident", "status"],
    doctor: ["doctor"],
    suggest: ["suggest"],
    "proof export": ["proof", "export", request],
    "audit verify": ["audit", "verify"],
    "audit export": ["audit", "export"],
  };
}

const median = (samples, key) => summary(samples.map((each) => each[key])).p50;

try {
  const given = process.env.ACP_BENCH_HOME;
  const home = given ?? join(scratch, "home");
  if (!existsSync(home))
    await buildHome({ dir: home, days: 30, ...(BYTES !== undefined && { bytes: Number(BYTES) }) });
  await startOnce(home);
  const isIndexed = readdirSync(home).some((name) => name.endsWith(".index"));
  const only = process.env.ACP_BENCH_ONLY?.split(",");
  const questions = Object.entries(questionsFor(await findSubjects(home))).filter(
    ([name]) => only === undefined || only.some((each) => name.startsWith(each)),
  );
  const samples = Object.fromEntries(
    ["node -e 0", ...questions.map(([n]) => n)].map((n) => [n, []]),
  );
  const ends = {};
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, args] of questions) {
      const node = measure(["-e", "0"]);
      samples["node -e 0"].push({ ...node, timesNode: 1 });
      const used = measure([ACP, ...args, "--home", home]);
      samples[name].push({ ...used, timesNode: used.ms / node.ms });
      ends[name] = { status: used.status, said: used.said.split("\n")[0] };
    }
  }
  const figures = Object.fromEntries(
    Object.entries(samples).map(([name, list]) => [
      name,
      Object.fromEntries(["ms", "cpuMs", "mb", "timesNode"].map((key) => [key, median(list, key)])),
    ]),
  );
  const megabytes = logBytes(home) / 1e6;
  if (isJson) console.log(JSON.stringify({ megabytes, isIndexed, rounds: ROUNDS, figures, ends }));
  else {
    console.log(
      `  ${fixed(megabytes)} MB of log, ${isIndexed ? "indexed" : "not indexed"}, load ${fixed(loadavg()[0])}`,
    );
    for (const [name, { ms, cpuMs, mb, timesNode }] of Object.entries(figures))
      console.log(
        `    ${name.padEnd(30)} ${fixed(ms).padStart(6)} ms  ${fixed(cpuMs).padStart(6)} ms CPU  ${fixed(mb).padStart(5)} MB  ${fixed(timesNode).padStart(5)} × Node` +
          (ends[name] === undefined || ends[name].status === 0
            ? ""
            : `  (exit ${ends[name].status}: ${ends[name].said.slice(0, 80)})`),
      );
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
