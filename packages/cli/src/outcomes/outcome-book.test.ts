/**
 * What the log says became of a yes, and what the gate tells whoever approved it, is one thing in
 * one text.
 */
import { memoryAuditSink } from "@acp/audit";
import {
  type AskSession,
  type ConsentGate,
  type ConsentOutcome,
  type GateOptions,
  type Release,
  createConsentGate,
  makeResponse,
  systemClock,
  toolAction,
} from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import type { RunOutcome } from "@acp/channel-web";
import { manualClock } from "@acp/testing";
import { expect, it } from "vitest";
import { createOutcomeBook } from "./outcome-book.js";

const agent = { id: "agent" };
const call = toolAction("s", "t", {});

const stream = (): Promise<ReadableStream> =>
  Promise.resolve(new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(8)) }));
const leave = (value: unknown): Promise<void> =>
  value instanceof ReadableStream ? value.cancel() : Promise.resolve();

const DEEDS: readonly (readonly [string, (release: Release) => Promise<unknown>, RunOutcome])[] = [
  ["ran", () => Promise.resolve(1), { state: "ran" }],
  [
    "failed",
    () => Promise.reject(new RangeError("secret")),
    { state: "failed", error: "RangeError" },
  ],
  [
    "ran, and whose stream was left",
    stream,
    { state: "ran", error: "its reader left before the end" },
  ],
];

/** What the gate told whoever approved it, and what the log says. */
async function askedOf(
  options: Partial<GateOptions>,
  use: (gate: ConsentGate) => Promise<unknown>,
): Promise<{ readonly told: ConsentOutcome | undefined; readonly logged: RunOutcome | undefined }> {
  const audit = memoryAuditSink();
  let asked: AskSession | undefined;
  const channel = {
    name: "test",
    async deliver(request: Parameters<typeof makeResponse>[0], session: AskSession): Promise<void> {
      asked = session;
      await session.submit(
        makeResponse(request, { nowMs: systemClock.now(), channel: "test", decision: "approved" }),
      );
    },
  };
  await use(
    createConsentGate({
      policy: parsePolicy({ version: "1", default: "ask" }),
      channel,
      audit,
      ...options,
    }),
  );
  const told = await asked?.outcome;
  const book = createOutcomeBook();
  for (const event of audit.events()) book.take(event);
  const { requestId = "" } =
    audit.events().find(({ eventType }) => eventType === "consent_approved") ?? {};
  return { told, logged: book.find(requestId)?.run };
}

it.each(DEEDS)(
  "the log and the gate say the same of a yes that %s",
  async (_what, perform, run) => {
    const { told, logged } = await askedOf({}, async (gate) => {
      const result = await gate.run(call, perform, { agent }).catch(() => undefined);
      if (result?.ran === true) await leave(result.value);
    });
    expect(logged).toEqual(run);
    expect(told).toEqual({ status: run.state, detail: run.error ?? "" });
  },
);

it("the log and the gate say the same of a yes that was stopped before it began", async () => {
  let paused: string | undefined;
  const late = await askedOf({ pausedAgent: () => paused }, async (gate) => {
    const verdict = await gate(call, { agent });
    paused = "enough";
    if (verdict.decision === "allow") await gate.perform(verdict, () => Promise.resolve());
  });
  expect(late.told).toEqual({
    status: "not_performed",
    detail: "Cannot redeem the permit: enough",
  });
  expect(late.logged).toEqual({ state: "not_run", error: "Cannot redeem the permit: enough" });
});

it("the log and the gate say the same of a yes that nobody came for", async () => {
  const clock = manualClock(systemClock.now());
  const { told, logged } = await askedOf({ clock }, async (gate) => {
    expect(await gate(call, { agent })).toMatchObject({ decision: "allow" });
    await clock.advance(30_000);
  });
  expect(told).toEqual({ status: "not_collected", detail: "the caller did not use it in time" });
  expect(logged).toEqual({ state: "not_collected", error: "the caller did not use it in time" });
});

const EVENTS = [
  { eventType: "consent_approved", metadata: {} },
  { eventType: "tool_call_forwarded", metadata: {} },
  { eventType: "tool_call_completed", metadata: { outcome: "performed" } },
  { eventType: "outcome_unknown", metadata: { reason: "its process ended" } },
  { eventType: "consent_not_collected", metadata: { reason: "nobody came" } },
] as const;

/** All orders in which logs may be read. */
function* ordersOf<T>(items: readonly T[]): Generator<readonly T[]> {
  if (items.length === 0) yield [];
  for (const [at, item] of items.entries())
    for (const rest of ordersOf(items.toSpliced(at, 1))) yield [item, ...rest];
}

it.each<readonly [string, readonly (typeof EVENTS)[number]["eventType"][], RunOutcome["state"]]>([
  ["that ran", ["consent_approved", "tool_call_forwarded", "tool_call_completed"], "ran"],
  [
    "that ran and of which another log did not know",
    EVENTS.map(({ eventType }) => eventType),
    "ran",
  ],
  [
    "that nobody took",
    ["consent_approved", "consent_not_collected", "outcome_unknown"],
    "not_collected",
  ],
  [
    "whose process ended",
    ["consent_approved", "tool_call_forwarded", "outcome_unknown"],
    "unknown",
  ],
])(
  "createOutcomeBook() says the same of a yes %s in whatever order it reads the logs",
  (_what, types, state) => {
    const events = EVENTS.filter(({ eventType }) => types.includes(eventType));
    for (const order of ordersOf(events)) {
      const book = createOutcomeBook();
      for (const event of order) book.take({ ...event, requestId: "cr_1", atMs: 1 });
      expect(book.find("cr_1")?.run?.state).toBe(state);
    }
  },
);

type Event = Parameters<ReturnType<typeof createOutcomeBook>["take"]>[0];
const event = (
  eventType: Event["eventType"],
  metadata: Event["metadata"] = {},
  requestId = "cr_1",
): Event => ({
  eventType,
  requestId,
  atMs: 7,
  metadata,
});
const told = (...events: readonly Event[]): unknown => {
  const book = createOutcomeBook();
  for (const each of events) book.take(each);
  return book.find("cr_1");
};
const approved = event("consent_approved", { reason: "fine" });
const forwarded = event("tool_call_forwarded");

it.each<readonly [string, readonly Event[], object | undefined]>([
  ["nothing before its end", [event("consent_requested"), forwarded], undefined],
  [
    "its end and why",
    [event("consent_denied", { reason: "no" })],
    { id: "cr_1", status: "denied", reason: "no", atMs: 7 },
  ],
  [
    "that it expired",
    [event("consent_expired")],
    { id: "cr_1", status: "expired", reason: "", atMs: 7 },
  ],
  ["a yes that nobody came for yet", [approved], { run: { state: "waiting" } }],
  [
    "an edited yes",
    [event("consent_approved", { approved_parameters: {} })],
    { status: "approved_with_modifications" },
  ],
  ["a yes that is under way", [approved, forwarded], { run: { state: "started" } }],
  [
    "a yes that ran, whatever comes late",
    [approved, event("tool_call_completed", { outcome: "performed" }), forwarded],
    { run: { state: "ran" } },
  ],
  [
    "a yes that was given up",
    [approved, event("tool_call_completed", { outcome: "not_performed", error: "x" })],
    { run: { state: "not_run", error: "x" } },
  ],
  [
    "a yes of which it does not know what came",
    [approved, event("tool_call_completed", { outcome: "odd" })],
    { run: { state: "unknown" } },
  ],
  [
    "a yes under way and then odd",
    [approved, forwarded, event("tool_call_completed")],
    { run: { state: "started" } },
  ],
  [
    "a yes that nobody came for",
    [approved, event("consent_not_collected")],
    { run: { state: "not_collected" } },
  ],
  [
    "a yes whose gate died",
    [approved, forwarded, event("outcome_unknown")],
    { run: { state: "unknown" } },
  ],
  [
    "nothing of another question",
    [event("consent_denied", {}, "cr_2"), event("consent_denied", {}, "")],
    undefined,
  ],
])("the book tells %s", (_what, events, outcome) => {
  if (outcome === undefined) expect(told(...events)).toBeUndefined();
  else expect(told(...events)).toMatchObject(outcome);
});

it("the book keeps no page for events without a question, and forgets the oldest", () => {
  const book = createOutcomeBook();
  for (let index = 0; index <= 20_000; index += 1)
    book.take(event("consent_denied", {}, `cr_${index}`));
  book.take(event("consent_denied", {}, ""));
  expect([
    book.find(""),
    book.find("cr_0"),
    book.find("cr_1")?.status,
    book.find("cr_20000")?.status,
  ]).toEqual([undefined, undefined, "denied", "denied"]);
});
