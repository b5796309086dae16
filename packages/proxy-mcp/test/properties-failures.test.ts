/**
 * Property of a call's answer: whatever fails, and whenever, it says "not executed" only of a call that
 * no server got, "not known" of every call that one got without an answer, and never both.
 */
import { memoryAuditSink } from "@acp/audit";
import { type AuditSink, createConsentGate, makeResponse } from "@acp/core";
import type { AskSession, ConsentRequest } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { manualClock } from "@acp/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createAside } from "../src/aside.js";
import { createCallLimits } from "../src/call-limits.js";
import { createLoopTurns } from "../src/loop-turns.js";
import { createMasks } from "../src/masks.js";
import { startCall } from "../src/tool-call.js";
import type { CallParts, ToolCall } from "../src/tool-call.js";

const EVENTS = [
  "approve",
  "deny",
  "answer",
  "fail answer",
  "server gone",
  "server back later",
  "cancel",
  "leave",
  "time passes",
  "log breaks",
  "turn",
] as const;
type Event = (typeof EVENTS)[number];

interface World {
  readonly forwarded: Set<number>;
  readonly answers: Map<number, string>;
  readonly taken: Set<number>;
}

/** Two calls to a server that takes one at a time, and what happens to them in this order. */
async function lived(events: readonly Event[], isAsked: boolean): Promise<World> {
  const clock = manualClock();
  const log = memoryAuditSink();
  let isBroken = false;
  const audit: AuditSink = {
    append: (written) =>
      isBroken ? Promise.reject(new Error("the disk is full")) : log.append(written),
  };
  const asked: { readonly request: ConsentRequest; readonly session: AskSession }[] = [];
  const gate = createConsentGate({
    policy: parsePolicy({ version: "1", default: isAsked ? "ask" : "allow" }),
    channel: {
      name: "held",
      deliver: async (request, session) => void asked.push({ request, session }),
    },
    audit,
    clock,
  });
  const world: World = { forwarded: new Set(), answers: new Map(), taken: new Set() };
  const answering = new Map<number, (line: Buffer) => void>();
  const parts: CallParts = {
    gate,
    agent: { id: "agent" },
    clock,
    masks: createMasks(),
    progressEveryMs: 10_000,
    pendingAfterMs: 45_000,
    aside: createAside(),
    turns: createLoopTurns(),
    log: () => {},
    send: (line) => {
      const { id } = JSON.parse(line.toString()) as { id: number };
      expect(world.answers.has(id)).toBe(false);
      world.answers.set(id, line.toString());
    },
  };
  const limits = createCallLimits({ callsMax: 1, callTimeoutMs: 20_000 }, clock);
  const calls = [1, 2].map(
    (id): ToolCall =>
      startCall(parts, {
        id,
        server: "s",
        tool: "t",
        args: { id },
        argumentChars: 8,
        progressToken: undefined,
        typedResults: false,
        limits,
        definition: () => Promise.resolve(undefined),
        forward(_args, onAnswer) {
          world.forwarded.add(id);
          answering.set(id, onAnswer);
        },
        onOver: () => {},
      }),
  );
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const decide = async (decision: "approved" | "denied"): Promise<void> => {
    const question = asked.shift();
    if (question === undefined) return;
    const answer = { nowMs: clock.now(), channel: "held", decision, reason: "said so" };
    await question.session.submit(makeResponse(question.request, answer)).catch(() => {});
  };
  const say = (body: object): void => {
    for (const [id, take] of answering) {
      answering.delete(id);
      take(Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`));
      return;
    }
  };
  const happen: Readonly<Record<Event, () => unknown>> = {
    approve: () => decide("approved"),
    deny: () => decide("denied"),
    answer: () => say({ result: { content: [] } }),
    "fail answer": () => say({ error: { code: 1, message: "no" } }),
    "server gone": () => calls.map((call) => call.fail({ server: "s", reason: "it died" })),
    "server back later": () =>
      calls.map((call) => call.fail({ server: "s", reason: "it died", retryAfterMs: 1_000 })),
    cancel: () => calls[0]?.cancel() !== undefined && world.taken.add(1),
    leave: () => calls.map((call) => call.leave()),
    "time passes": () => clock.advance(21_000),
    "log breaks": () => void (isBroken = true),
    turn,
  };
  for (const event of events) {
    await happen[event]();
    await turn();
  }
  // In the end everything ends.
  isBroken = false;
  for (let each = 0; each < 4; each++) {
    await clock.advance(60_000);
    await turn();
  }
  for (const call of calls) call.fail({ server: "s", reason: "it was stopped" });
  await Promise.all(calls.map((call) => call.over));
  return world;
}

it("an answer says what happened, and one thing only", async () => {
  const seen = { not: 0, unknown: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...EVENTS), { maxLength: 8 }),
      fc.boolean(),
      async (events, isAsked) => {
        const { forwarded, answers, taken } = await lived(events, isAsked);
        for (const id of [1, 2]) {
          const text = answers.get(id);
          // Only who took a call back gets no answer.
          if (text === undefined) {
            expect(taken.has(id)).toBe(true);
            continue;
          }
          const isNot = /not executed/iu.test(text);
          const isUnknown = /not known/iu.test(text);
          expect(isNot && isUnknown).toBe(false);
          if (isNot) expect(forwarded.has(id)).toBe(false);
          if (isUnknown) expect(forwarded.has(id)).toBe(true);
          if (!isNot && !isUnknown) expect(forwarded.has(id)).toBe(true);
          seen.not += Number(isNot);
          seen.unknown += Number(isUnknown);
        }
      },
    ),
    { numRuns: 300 },
  );
  expect(Math.min(seen.not, seen.unknown)).toBeGreaterThan(0);
});
