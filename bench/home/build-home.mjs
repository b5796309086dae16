// Builds the home of somebody who has used it for days: sessions of five clients that write a log
// each, a third of them ended by kill -9. Written through the real log, in the shape that a gate
// writes; the same for a seed, but for keys. As a program: build-home.mjs DIR [--days 30]
// [--bytes N] [--seed N], where --bytes goes on until the logs have that size.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { actionDigest, toolAction } from "@acp/core";
import { noteSigner, openAuditLog, readAuditLog } from "@acp/audit";

const ACP = fileURLToPath(new URL("../../packages/cli/bin/acp.cjs", import.meta.url));
const DAY_MS = 86_400_000;
const CLIENTS = ["claude-code", "cursor", "codex", "goose", "desktop"];
/** A day of 2,000 calls, 60 questions and 5 sessions: 60,000, 1,800 and 150 in 30 days. */
const CALLS_A_SESSION = 400;
const QUESTION_EVERY = 33;
const FILE_BYTES = 64 * 1024 * 1024;
const TOOLS = [
  ["read_file", "read", "low"],
  ["search", "read", "low"],
  ["write_file", "write", "medium"],
  ["run_command", "execute", "high"],
  ["fetch", "network", "medium"],
  ["send_mail", "communicate", "high"],
];
const WORDS = "the agent reads a file, changes what it says and writes it back again ".repeat(120);

/** mulberry32: enough for sizes and choices, and the same everywhere. */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const hex = (text) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

/** Builds the home in `dir`, which holds nothing; resolves with what it has. */
export async function buildHome({ dir, days = 30, bytes, seed = 1 }) {
  const vault = await initHome(dir);
  const next = random(seed);
  const endMs = Date.now() - 3_600_000;
  const state = { dir, next, vault, count: 0, key: readKey(dir) };
  const totals = { sessions: 0, calls: 0, questions: 0, killed: 0, bytes: 0 };
  const isDone = (day) => (bytes === undefined ? day === days : totals.bytes >= bytes);
  const startMs = endMs - (bytes === undefined ? days : Math.ceil(bytes / 7_000_000)) * DAY_MS;
  for (let day = 0; !isDone(day); day++) {
    for (const [index, agent] of CLIENTS.entries()) {
      // Every third ends so, and the last one of all: a start finds work that is open.
      const isKilled = (day * CLIENTS.length + index) % 3 === 2 || index === CLIENTS.length - 1;
      const atMs = startMs + day * DAY_MS + index * 60_000;
      const questions = await writeSession(state, { agent, index, atMs, isKilled });
      totals.sessions += 1;
      totals.calls += CALLS_A_SESSION;
      totals.questions += questions;
      totals.killed += isKilled ? 1 : 0;
    }
    totals.bytes = logBytes(dir);
  }
  return totals;
}

/** Size of all files of the home's logs. */
export function logBytes(dir) {
  return readdirSync(dir)
    .filter((name) => /^audit(\.\d+)?\.jsonl(\.\d{12})?$/.test(name))
    .reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
}

const logName = (index) => (index === 0 ? "audit.jsonl" : `audit.${index + 1}.jsonl`);
const readKey = (dir) => readFileSync(join(dir, "keys", "checkpoint.key"), "utf8").trim();

/** Makes it as a person does; its log begins anew, in the past, with what it says of the vault. */
async function initHome(dir) {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const made = spawnSync(process.execPath, [ACP, "init", "--home", dir], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (made.status !== 0) throw new Error(`Cannot make a home in "${dir}"`);
  let vault;
  for await (const event of readAuditLog(join(dir, "audit.jsonl")))
    if (event.eventType === "vault_changed") vault = event.metadata;
  for (const name of readdirSync(dir))
    if (name.startsWith("audit")) rmSync(join(dir, name), { recursive: true });
  const { seq: _seq, mono_ms: _mono, ...metadata } = vault ?? {};
  return vault === undefined ? undefined : metadata;
}

async function writeSession(state, { agent, index, atMs, isKilled }) {
  const path = join(state.dir, logName(index));
  let nowMs = atMs;
  const clock = { now: () => nowMs, monotonic: () => nowMs - atMs };
  const ids = { next: (prefix) => newId(state, prefix) };
  const origin = `${noteSigner(state.key).name}/${logName(index)}`;
  const log = await openAuditLog({
    path,
    clock,
    ids,
    rotation: { maxBytes: FILE_BYTES },
    recover: { pendingIds: new Set() },
    checkpoints: { signerKey: state.key, origin, everyMs: DAY_MS },
  });
  const session = { state, agent, isolation: "none" };
  if (state.vault !== undefined && index === 0 && log.start === undefined)
    await log.append([own(state, nowMs, "vault_changed", state.vault)]);
  await log.append([
    own(state, nowMs, "gate_notice", { notice: "isolation_none", text: "No sandbox holds it" }),
    own(state, nowMs, "gate_notice", { notice: "policy_loaded", ...policyNote(state.dir) }),
  ]);
  let questions = 0;
  const batch = [];
  for (let call = 0; call < CALLS_A_SESSION; call++) {
    nowMs += 2_000 + Math.floor(state.next() * 60_000);
    const isAsked = call % QUESTION_EVERY === QUESTION_EVERY - 1;
    if (isAsked) questions += 1;
    const events = callEvents(session, { nowMs, isAsked });
    const isCut = isKilled && call >= CALLS_A_SESSION - 3;
    batch.push(...(isCut ? events.slice(0, -1) : events));
    if (batch.length < 256) continue;
    await log.append(batch.splice(0));
    await log.checkpoint(); // as time makes them
  }
  if (isKilled) batch.push(...callEvents(session, { nowMs, isAsked: true }).slice(0, 4));
  await log.append(batch);
  await log.close();
  if (isKilled) cutLastLine(`${path}.checkpoints`); // a process that is killed signs no end
  if (isKilled && state.next() < 0.5) appendFileSync(path, '{"agent":"cut sh');
  return questions;
}

/** What a gate says of the policy that it loads. */
function policyNote(dir) {
  const file = join(dir, "policy.yml");
  return { text: `${file} is in force`, file, policy: hex(readFileSync(file)) };
}

function cutLastLine(path) {
  const text = readFileSync(path, "utf8");
  truncateSync(path, Buffer.byteLength(text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1)));
}

function newId(state, prefix) {
  state.count += 1;
  const tail = hex(`${state.count}`).slice(7, 39);
  return `${prefix}_${tail.slice(0, 8)}-${tail.slice(8, 12)}-4${tail.slice(13, 16)}-8${tail.slice(17, 20)}-${tail.slice(20)}`;
}

// oxlint-disable-next-line max-params -- one event a line where it is called
const own = (state, atMs, eventType, metadata) => ({
  id: newId(state, "ae"),
  atMs,
  eventType,
  requestId: "",
  agent: "",
  tool: "",
  category: "",
  riskLevel: "",
  decision: "",
  responseTimeMs: 0,
  policyRule: "",
  metadata,
});

/** Until it is a question, a call has the id of its first event. */
function eventMaker(state, { nowMs, requestId, common, shape }) {
  let atMs = nowMs;
  let call;
  const event = (eventType, decision, metadata) => {
    const made = own(state, (atMs += 2), eventType, metadata);
    call ??= made.id;
    const isOfQuestion = requestId !== "" && !FIRST.has(eventType);
    return {
      ...made,
      ...shape,
      decision,
      requestId: isOfQuestion ? requestId : "",
      metadata: { ...common, ...(isOfQuestion ? {} : { call }), ...metadata },
    };
  };
  return { event, call: () => call };
}

const FIRST = new Set(["tool_call_intercepted", "policy_evaluated"]);

/** What a gate writes for one call: four events, or seven where somebody was asked. */
function callEvents({ state, agent, isolation }, { nowMs, isAsked }) {
  const { next } = state;
  const [tool, category, riskLevel] = TOOLS[Math.floor(next() * TOOLS.length)];
  const size = Math.min(8_000, Math.floor(200 * Math.exp(2.4 * next())));
  const text = WORDS.slice(0, size);
  const parameters = { path: `/home/user/project/src/file-${Math.floor(next() * 900)}.ts`, text };
  const isDenied = !isAsked && next() < 0.02;
  const action_digest = actionDigest(toolAction("files", tool, parameters));
  const requestId = isAsked ? newId(state, "cr") : "";
  const shape = { agent, tool, category, riskLevel, responseTimeMs: 3 };
  const policyRule = isAsked ? "ask-writes" : "allow-reads";
  const common = { isolation, session: `s-${agent}` };
  const { event, call } = eventMaker(state, {
    nowMs,
    requestId,
    common,
    shape: { ...shape, policyRule },
  });
  const judged = isAsked ? "ask" : isDenied ? "deny" : "allow";
  const events = [
    event("tool_call_intercepted", "", {
      kind: "tool",
      server: "files",
      parameters,
      action_digest,
    }),
    event("policy_evaluated", judged, { layer: "rules", reason: "matched", rule_name: "Calls" }),
  ];
  if (isDenied) return events;
  if (isAsked) {
    const request = { id: requestId, agent: { id: agent }, action: { tool, parameters }, text };
    events.push(
      event("consent_requested", "ask", {
        call: call(),
        digest: action_digest,
        quorum: 1,
        request,
      }),
      event("consent_delivered", "ask", { channel: "terminal" }),
      event("consent_approved", "approved", {
        reason: "approved",
        approvers: ["operator"],
        channels: ["terminal"],
        request_hash: hex(text),
        responses: [{ request_id: requestId, decision: "approved", signature: text.slice(0, 400) }],
      }),
    );
  }
  events.push(
    event("tool_call_forwarded", "allow", { approvers: isAsked ? ["operator"] : [] }),
    event("tool_call_completed", "allow", { outcome: "performed" }),
  );
  return events;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { days: { type: "string" }, bytes: { type: "string" }, seed: { type: "string" } },
  });
  const [dir] = positionals;
  if (dir === undefined || existsSync(dir)) throw new Error("Name a folder that is not there yet");
  const built = await buildHome({
    dir,
    days: Number(values.days ?? 30),
    ...(values.bytes !== undefined && { bytes: Number(values.bytes) }),
    seed: Number(values.seed ?? 1),
  });
  console.log(JSON.stringify(built));
}
