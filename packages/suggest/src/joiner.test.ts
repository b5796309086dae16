import { describe, expect, it } from "vitest";
import { createJoiner } from "./joiner.js";
import type { CallEnd } from "./joiner.js";
import type { LoggedEvent } from "./logged-call.js";

const event = (eventType: string, change: Partial<LoggedEvent> = {}): LoggedEvent => ({
  eventType,
  atMs: 1,
  requestId: "",
  agent: "a",
  tool: "t",
  riskLevel: "medium",
  decision: "",
  metadata: {},
  ...change,
});
const begin = (call: string): LoggedEvent =>
  event("tool_call_intercepted", { tool: call, metadata: { call } });
const evaluated = (call: string, decision: string): LoggedEvent =>
  event("policy_evaluated", { decision, metadata: { call } });
const requested = (call: string, requestId: string, metadata: object = {}): LoggedEvent =>
  event("consent_requested", { requestId, metadata: { call, quorum: 1, ...metadata } });
const ended = (eventType: string, requestId: string, decision = ""): LoggedEvent =>
  event(eventType, { requestId, decision, atMs: 9 });

function join(events: readonly LoggedEvent[]): readonly (readonly [string, CallEnd | undefined])[] {
  const ends: (readonly [string, CallEnd | undefined])[] = [];
  const take = createJoiner<string>({
    begin: ({ tool }) => tool,
    end: (call, end) => void ends.push([call, end]),
  });
  for (const each of events) take(each);
  return ends;
}
const outcomes = (events: readonly LoggedEvent[]): readonly unknown[] =>
  join(events).map(([call, end]) => [call, end?.outcome]);
const asked = (call: string, requestId: string): readonly LoggedEvent[] => [
  begin(call),
  evaluated(call, "ask"),
  requested(call, requestId),
];

describe("createJoiner()", () => {
  it.each([
    ["consent_approved", "approved", "approved"],
    ["consent_approved", "approved_with_modifications", "edited"],
    ["consent_approved", "", "edited"],
    ["consent_superseded", "superseded", "edited"],
    ["consent_denied", "denied", "denied"],
    ["consent_expired", "expired", "unanswered"],
    ["consent_cancelled", "cancelled", "unanswered"],
    ["consent_failed", "failed", "unanswered"],
  ])("takes %s with the decision %j for %s", (type, decision, outcome) => {
    expect(outcomes([...asked("x", "cr_1"), ended(type, "cr_1", decision)])).toEqual([
      ["x", outcome],
    ]);
  });

  it("tells calls apart that are open at the same time, and ends each once", () => {
    const events = [
      ...asked("x", "cr_1"),
      ...asked("y", "cr_2"),
      ended("consent_denied", "cr_2"),
      ended("consent_approved", "cr_1", "approved"),
    ];
    expect(outcomes([...events, ended("consent_denied", "cr_1")])).toEqual([
      ["y", "denied"],
      ["x", "approved"],
    ]);
  });

  it("knows what nobody was asked about", () => {
    expect(
      outcomes([begin("x"), evaluated("x", "allow"), begin("y"), evaluated("y", "deny")]),
    ).toEqual([
      ["x", "unasked"],
      ["y", "unasked"],
    ]);
  });

  it("knows an earlier consent, and counts no kept no a second time", () => {
    const call = (name: string, type: string, decision: string): readonly LoggedEvent[] => [
      begin(name),
      evaluated(name, "ask"),
      event(type, { decision, metadata: { call: name } }),
    ];
    expect(
      outcomes([
        ...call("x", "grant_used", "allow"),
        ...call("y", "decision_adopted", "approved"),
        ...call("z", "decision_adopted", "denied"),
      ]),
    ).toEqual([
      ["x", "granted"],
      ["y", "granted"],
      ["z", undefined],
    ]);
  });

  it("joins an end that stands in a log read earlier", () => {
    expect(outcomes([ended("consent_denied", "cr_1"), ...asked("x", "cr_1")])).toEqual([
      ["x", "denied"],
    ]);
  });

  it("takes an edited call's own question for nobody's wish", () => {
    const successor = event("consent_requested", {
      requestId: "cr_2",
      metadata: { quorum: 1, replaces: "cr_1" },
    });
    expect(
      outcomes([
        ...asked("x", "cr_1"),
        successor,
        ended("consent_superseded", "cr_1"),
        ended("consent_approved", "cr_2", "approved"),
      ]),
    ).toEqual([["x", "edited"]]);
  });

  it("gives the question's terms, and takes a quorum that is none for the largest", () => {
    const signed = { request: { evidence: "passkey", secrets: ["TOKEN"] }, quorum: 2 };
    const of = (metadata: object): CallEnd["question"] =>
      join([
        begin("x"),
        evaluated("x", "ask"),
        requested("x", "cr_1", metadata),
        ended("consent_denied", "cr_1"),
      ])[0]?.[1]?.question;
    expect(of({})).toEqual({
      riskLevel: "medium",
      quorum: 1,
      wantsPasskey: false,
      hasSecrets: false,
    });
    expect(of(signed)).toEqual({
      riskLevel: "medium",
      quorum: 2,
      wantsPasskey: true,
      hasSecrets: true,
    });
    expect(of({ quorum: "1" })?.quorum).toBe(Number.POSITIVE_INFINITY);
    expect(of({ request: { evidence: 1 } })?.wantsPasskey).toBe(true);
  });

  it("gives back the oldest of many calls that never went on", () => {
    const events = Array.from({ length: 1_001 }, (_, index) => begin(`c${index}`));
    expect(join(events)).toEqual([["c0", undefined]]);
  });

  it("passes over events of no call and of types it does not know", () => {
    expect(
      join([
        event("log_opened"),
        event("tool_call_intercepted"),
        event("of_tomorrow", { requestId: "cr_1" }),
      ]),
    ).toEqual([]);
  });
});
