// A gate under load: 1,000 questions open all the time and 10,000 asked within 60 s, answered out
// of order by a person's side that answers some twice, some for another question and some after the
// end. Everything durable: log, open questions, claims. None may be lost or released twice.
// Directory: ACP_BENCH_DIR, else the system's; it should be on a disk.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAuditLog, verifyAuditLog } from "@acp/audit";
import { createConsentGate, makeResponse, memoryStore, toolAction } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { fileClaims, openPendingFiles } from "@acp/home";
import { fixed, quantile } from "./samples.mjs";

const isJson = process.argv.includes("--json");
const OPEN = Number(process.env.ACP_BENCH_OPEN ?? "1000");
const TOTAL = Number(process.env.ACP_BENCH_QUESTIONS ?? "10000");
const SECONDS = Number(process.env.ACP_BENCH_SECONDS ?? "60");
const folder = mkdtempSync(join(process.env.ACP_BENCH_DIR ?? tmpdir(), "acp-bench-"));
const say = (text) => isJson || console.log(text);

/** Questions on somebody's screen. */
const shown = new Map();
const channel = {
  name: "load",
  async deliver(request, session) {
    shown.set(request.id, { request, session });
  },
};

const counts = { refused: 0, duplicates: 0, foreign: 0 };
async function submit(asked, decision, nonce) {
  const receipt = await asked.session.submit(
    makeResponse(
      { id: asked.request.id, nonce: nonce ?? asked.request.nonce },
      { decision, nowMs: Date.now(), channel: "load" },
    ),
    { subject: "ada" },
  );
  if (receipt.status === "refused") counts.refused++;
  return receipt;
}

const decidedAt = new Map();
/**
 * Answers one question, with what goes wrong on the way: an answer for another question, one twice,
 * one late.
 */
async function answer(id, number) {
  const asked = shown.get(id);
  shown.delete(id);
  if (number % 20 === 0) {
    counts.foreign++;
    await submit(asked, "approved", "n_of_another_question");
  }
  decidedAt.set(id, performance.now());
  const decision = number % 5 === 0 ? "denied" : "approved";
  const first = submit(asked, decision);
  if (number % 10 === 0) {
    counts.duplicates++;
    await Promise.all([first, submit(asked, "approved")]);
  }
  const receipt = await first;
  if (receipt.status !== "final")
    throw new Error(`question ${number} got ${JSON.stringify(receipt)}`);
  if (number % 50 === 0) await submit(asked, "approved");
}

const audit = await openAuditLog({ path: join(folder, "audit.jsonl") });
const pending = await openPendingFiles(join(folder, "pending"));
const claims = fileClaims(join(folder, "claims"));
const gate = createConsentGate({
  policy: parsePolicy({ version: "1", rules: [], default_action: "ask" }),
  channel,
  audit,
  approvers: [{ id: "ada", channel: "load", subject: "ada" }],
  store: { ...memoryStore(), pending, claims },
  askTimeoutMs: 600_000,
});

const released = new Map();
const waits = [];
const burstWaits = [];
let isBurst = false;
let rssMax = 0;
const ends = { ran: 0, denied: 0 };
async function ask(number) {
  const action = toolAction("files", "write_file", {
    path: `project/file-${number}.txt`,
    content: "x".repeat(200),
  });
  const result = await gate.run(
    action,
    async (release) =>
      released.set(release.action.args.path, (released.get(release.action.args.path) ?? 0) + 1),
    { agent: { id: `agent-${number % 50}` } },
  );
  ends[result.ran ? "ran" : "denied"]++;
  const at = decidedAt.get(result.verdict.requestId);
  if (at === undefined)
    throw new Error(`question ${number} ended by itself: ${JSON.stringify(result.verdict)}`);
  (isBurst ? burstWaits : waits).push(performance.now() - at);
}

const begin = performance.now();
const asks = [];
const answers = [];
let answered = 0;
const answerOne = () => {
  const ids = [...shown.keys()];
  answers.push(answer(ids[(answered * 7919) % ids.length], answered++));
};
while (asks.length < TOTAL) {
  const due = Math.min(
    TOTAL,
    Math.ceil(((performance.now() - begin) / (SECONDS * 1000)) * (TOTAL - OPEN)) + OPEN,
  );
  while (asks.length < due) asks.push(ask(asks.length));
  while (shown.size > OPEN) answerOne();
  rssMax = Math.max(rssMax, process.memoryUsage().rss);
  await new Promise((resolve) => setTimeout(resolve, 5));
}
const askedMs = performance.now() - begin;
// All that are open at once: more than the target speaks of, and told apart from it.
isBurst = true;
while (answered < TOTAL) {
  while (shown.size > 0) answerOne();
  await new Promise((resolve) => setTimeout(resolve, 5));
}
await Promise.all(asks);
await Promise.all(answers);
await gate.close();
await pending[Symbol.asyncDispose]();
await audit[Symbol.asyncDispose]();
const log = await verifyAuditLog(join(folder, "audit.jsonl"));
rmSync(folder, { recursive: true, force: true });

const delays = (list) => {
  const sorted = [...list].sort((a, b) => a - b);
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), max: sorted.at(-1) };
};
const twice = [...released.values()].filter((times) => times !== 1).length;
const approved = TOTAL - Math.ceil(TOTAL / 5);
const result = {
  questions: TOTAL,
  open: OPEN,
  asked_seconds: Number(fixed(askedMs / 1000)),
  lost: TOTAL - ends.ran - ends.denied,
  released: released.size,
  approved,
  released_twice: twice,
  refused_answers: counts.refused,
  decision_to_release_ms: delays(waits),
  burst_decision_to_release_ms: delays(burstWaits),
  rss_mb: Math.round(rssMax / 1024 / 1024),
  log_ok: log.ok,
};
say(`${TOTAL} questions, ${OPEN} open at a time, asked in ${result.asked_seconds} s`);
say(
  `lost ${result.lost}, released ${result.released} of ${approved} approved, released twice ${twice}, answers refused ${counts.refused}`,
);
say(
  `decision to release: p50 ${fixed(result.decision_to_release_ms.p50)} ms, p99 ${fixed(result.decision_to_release_ms.p99)} ms (target 100)`,
);
say(
  `${burstWaits.length} answered at once: p50 ${fixed(result.burst_decision_to_release_ms.p50)} ms, p99 ${fixed(result.burst_decision_to_release_ms.p99)} ms`,
);
say(`memory ${result.rss_mb} MB (target 300); the log is ${log.ok ? "whole" : "broken"}`);
if (isJson) console.log(JSON.stringify(result));
if (result.lost > 0 || twice > 0 || released.size !== approved || !log.ok) process.exitCode = 1;
