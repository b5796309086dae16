/**
 * What a real gate logs when it decides: one call for each way in which a decision can end. The
 * disk comes after it, because a clock that a test moves does not wait for one.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { openAuditLog } from "@acp/audit";
import {
  confirmationWord,
  createConsentGate,
  makeResponse,
  memoryStore,
  toolAction,
} from "@acp/core";
import type { AuditEventInput, AuditSink, ConsentGate, GateOptions, JsonObject } from "@acp/core";
import { readPolicy } from "@acp/core/yaml";
import { manualClock, scriptedChannel, seededIds } from "@acp/testing";
import type { ManualClock, ScriptedAnswer } from "@acp/testing";
import { createNotices } from "../src/gate/notices.js";
import { keepPolicy } from "../src/gate/kept-policies.js";

export const POLICY = `version: "1"
default: ask
rules:
  - id: reads
    name: Reading is fine
    match: { tool: "read_*" }
    action: allow

  # Nobody moves files.
  - id: no-moves
    match: { tool: move_file }
    action: deny
    reason: files stay here
  - id: payments
    match: { tool: pay }
    action: ask
    quorum: 2
  - id: notes
    match: { tool: note }
    action: ask
    level: low
    offers: [{ covers: tool, ttl: 3600 }]
`;

/** 2026-01-05T09:00:00Z. */
export const START_MS: number = Date.UTC(2026, 0, 5, 9);
/** Time between two calls. */
export const STEP_MS = 600_000;

/** One call, and what people do about it. */
export interface Call {
  /** How the decision ends. */
  readonly name: string;
  readonly tool: string;
  readonly args?: JsonObject;
  readonly answer?: ScriptedAnswer;
  /** Somebody else, who answers too. */
  readonly also?: string;
  readonly paused?: "questions" | "agent";
  readonly act?: "withdraw" | "throw" | "die" | "ignore";
}

/** One of each. */
export const CALLS: readonly Call[] = [
  { name: "allowed", tool: "read_file", args: { path: "notes.txt" } },
  { name: "denied by a rule", tool: "move_file", args: { source: "a", destination: "b" } },
  { name: "approved", tool: "write_file", args: { path: "a.md" }, answer: "approve" },
  {
    name: "denied by a person",
    tool: "write_file",
    args: { path: "b.md" },
    answer: { deny: { reason: "not in working hours" } },
  },
  {
    name: "approved with modifications",
    tool: "write_file",
    args: { path: "c.md" },
    answer: { modify: { path: "d.md" } },
  },
  { name: "expired", tool: "write_file", args: { path: "e.md" }, answer: "ignore" },
  {
    name: "cancelled",
    tool: "write_file",
    args: { path: "f.md" },
    answer: "ignore",
    act: "withdraw",
  },
  { name: "not shown", tool: "write_file", args: { path: "g.md" }, answer: "throw" },
  { name: "paused", tool: "write_file", args: { path: "h.md" }, paused: "questions" },
  { name: "agent paused", tool: "read_file", args: { path: "i.md" }, paused: "agent" },
  { name: "failed", tool: "write_file", args: { path: "j.md" }, answer: "approve", act: "throw" },
  {
    name: "outcome unknown",
    tool: "write_file",
    args: { path: "k.md" },
    answer: "approve",
    act: "die",
  },
  {
    name: "not collected",
    tool: "write_file",
    args: { path: "l.md" },
    answer: "approve",
    act: "ignore",
  },
  {
    name: "approved with a grant",
    tool: "note",
    args: { n: 1 },
    answer: { approve: { offer: "tool" } },
  },
  { name: "answered by a grant", tool: "note", args: { n: 2 } },
  {
    name: "several approvers",
    tool: "pay",
    args: { euros: 3 },
    answer: { approve: { subject: "ada" } },
    also: "bob",
  },
];

interface Gated {
  readonly gate: ConsentGate;
  readonly clock: ManualClock;
}

/** The events of a gate that decided the calls, and which of them began each. */
export async function decided(
  calls: readonly Call[],
  options: Pick<GateOptions, "signer"> = {},
): Promise<{ readonly events: readonly AuditEventInput[]; readonly starts: readonly number[] }> {
  const events: AuditEventInput[] = [];
  const clock = manualClock(START_MS);
  let isOver = false;
  const append: AuditSink["append"] = (more) => {
    if (!isOver) events.push(...more);
    // Event 0 of the log is the policy's.
    return Promise.resolve({ seq: events.length, hash: "" });
  };
  const state: { paused: Call["paused"]; also: string | undefined } = {
    paused: undefined,
    also: undefined,
  };
  const channel = scriptedChannel(
    calls.flatMap(({ answer }) => (answer === undefined ? [] : [answer])),
    { clock, name: "terminal" },
  );
  const both: typeof channel = {
    ...channel,
    async deliver(request, session) {
      await channel.deliver(request, session);
      if (state.also === undefined) return;
      const nowMs = clock.now();
      const confirmation = confirmationWord(request);
      const yes = makeResponse(request, {
        decision: "approved",
        nowMs,
        channel: "terminal",
        ...(confirmation !== undefined && { confirmation }),
      });
      await session.submit(yes, { subject: state.also });
    },
  };
  const starts: number[] = [];
  await using gate = createConsentGate({
    ...options,
    policy: readPolicy(POLICY, { home: "/", cwd: "/" }),
    channel: both,
    audit: { append },
    clock,
    store: memoryStore(clock),
    ids: seededIds(),
    approvers: ["local", "ada", "bob"].map((id) => ({ id, channel: "terminal", subject: id })),
    paused: () => (state.paused === "questions" ? "the operator paused questions" : undefined),
    pausedAgent: () => (state.paused === "agent" ? "the operator paused this agent" : undefined),
  });
  for (const call of calls) {
    clock.jump(STEP_MS);
    Object.assign(state, { paused: call.paused, also: call.also });
    starts.push(events.length);
    await decide({ gate, clock }, call);
  }
  // As if the process had been killed here.
  isOver = true;
  return { events, starts };
}

async function decide({ gate, clock }: Gated, { tool, args = {}, act }: Call): Promise<void> {
  const action = toolAction("files", tool, args);
  const stop = new AbortController();
  const context = { agent: { id: "coder" }, signal: stop.signal };
  if (act === "withdraw") {
    const opened = await gate.open(action, context);
    if (opened.decision === "pending") await opened.withdraw("the client closed the connection");
    return;
  }
  if (act === "ignore") {
    void gate(action, context);
    await clock.advance(60_000);
    return;
  }
  const perform = async (): Promise<string> => {
    if (act === "throw") throw new TypeError("it broke");
    return act === "die" ? new Promise(() => {}) : "done";
  };
  const ran = gate.run(action, perform, context).catch(() => undefined);
  await clock.advance(1_000);
  if (act === "die") return;
  await clock.advance(400_000); // what nobody answered is over by then
  await ran;
}

/** Writes the log of a home as its gate would, after the policy that was in force. */
export async function writeLog(
  home: string,
  events: readonly AuditEventInput[],
  policy: string = POLICY,
): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  const path = join(home, "audit.jsonl");
  await using log = await openAuditLog({ path });
  const { hash } = await keepPolicy(home, policy);
  const print = { notice: () => {} };
  const notices = createNotices({
    print: { ...print, json: false, result() {}, failure() {}, tone: (_, text) => text },
    audit: log,
    agent: "coder",
    isolation: "none",
  });
  const file = "/home/ada/.acp/policy.yml";
  await notices.log("policy_loaded", `${file} is in force`, { policy: hash, file });
  if (events.length > 0) await log.append(events);
  await log.close();
  // The next process ends what this one left open.
  const none: ReadonlySet<string> = new Set();
  const recover = { pendingIds: none, untakenIds: none, endedElsewhere: async () => none };
  await using _next = await openAuditLog({ path, recover });
}
