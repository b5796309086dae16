import { type ConsentRequest, encodeRequest } from "@acp/core";
import { manualClock, sampleRequest } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { mayAnswer, needsPasskey, viewOf } from "./question-view.js";
import { type Carrier, createQuestions } from "./questions.js";

const ada = { approver: "ada", subject: "ada" };
const NOW_MS = manualClock().now();

const asked = (overrides: Partial<ConsentRequest> = {}): ConsentRequest =>
  sampleRequest({ createdAtMs: NOW_MS, ...overrides });
const at = (request: ConsentRequest, carrier: Carrier = { channel: "web" }) => ({
  question: { request, redelivery: false },
  carrier,
});
const level = (
  riskLevel: "low" | "medium" | "high" | "critical",
  requiredLevel = riskLevel,
): Partial<ConsentRequest> => ({
  action: { ...sampleRequest().action, riskLevel },
  policy: { ruleId: "r", ruleName: "", requiredLevel },
});

describe("needsPasskey()", () => {
  it.each([
    ["low", "high", false],
    ["medium", "high", false],
    ["high", "high", true],
    ["critical", "high", true],
    ["low", "low", true],
    ["high", "critical", false],
    ["critical", "critical", true],
    ["critical", "rules-only", false],
  ] as const)("of a question of level %s, from %s on: %s", (of, from, want) => {
    expect(needsPasskey(asked(level(of)), from)).toBe(want);
  });

  it("goes by the higher of the action's and the rule's level", () => {
    expect(needsPasskey(asked(level("low", "high")), "high")).toBe(true);
    expect(needsPasskey(asked(level("high", "low")), "high")).toBe(true);
  });

  it("holds for every rule that says so", () => {
    expect(needsPasskey(asked({ ...level("low"), evidence: "passkey" }), "rules-only")).toBe(true);
  });
});

describe("mayAnswer()", () => {
  const steps = [{ afterMs: 1_000, approvers: ["ada"] }];

  it.each([
    ["anybody where nobody is named", asked(), "yes"],
    ["who is named", asked({ approvers: ["bob", "ada"] }), "yes"],
    ["not who is not named", asked({ approvers: ["bob"] }), "no"],
    ["nobody of none", asked({ approvers: [] }), "no"],
    ["not before a step", asked({ approvers: ["bob", "ada"], escalation: steps }), "later"],
    [
      "who waits for no step",
      asked({ approvers: ["bob", "ada"], escalation: [{ afterMs: 1_000, approvers: ["bob"] }] }),
      "yes",
    ],
  ] as const)("lets answer %s", (_who, request, want) => {
    expect(mayAnswer(at(request), ada, NOW_MS)).toBe(want);
  });

  it("lets answer from the step's moment on", () => {
    const request = asked({ approvers: ["ada"], escalation: steps });
    expect(mayAnswer(at(request), ada, NOW_MS + 999)).toBe("later");
    expect(mayAnswer(at(request), ada, NOW_MS + 1_000)).toBe("yes");
  });

  it("lets answer where a step brought the question here before its time", () => {
    const request = asked({
      approvers: ["ada"],
      escalation: [{ ...steps[0], afterMs: 1_000, channel: "web" }],
    });
    expect(mayAnswer(at(request), ada, NOW_MS)).toBe("yes");
    expect(mayAnswer(at(request, { channel: "telegram" }), ada, NOW_MS)).toBe("later");
  });

  it("lets only the person answer whom the source's gates know", () => {
    expect(mayAnswer(at(asked(), { channel: "terminal", subject: "local" }), ada, NOW_MS)).toBe(
      "no",
    );
    expect(
      mayAnswer(
        at(asked(), { channel: "terminal", subject: "local" }),
        { ...ada, subject: "local" },
        NOW_MS,
      ),
    ).toBe("yes");
  });
});

describe("viewOf()", () => {
  it("tells the request whole, and what this person's yes takes", () => {
    const request = asked({ ...level("critical"), approvers: ["ada"], quorum: 2 });
    const questions = createQuestions(manualClock());
    const submit = async () => ({ status: "final", outcome: "approved" }) as const;
    const entry = questions.put({ ...at(request), submit });
    if (entry === undefined) throw new Error("no entry");
    const settings = { passkeyFrom: "high", clock: manualClock() } as const;
    const bob = { approver: "bob", subject: "bob" };
    expect(viewOf(entry, bob, settings)).toEqual({
      request: encodeRequest(request),
      redelivery: false,
      channel: "web",
      needs_passkey: true,
      word: "approve",
      may_answer: false,
      answered: false,
      have: 0,
    });
    questions.take(entry, { by: ada, claim: {}, have: 1 });
    expect(viewOf(entry, ada, settings)).toMatchObject({
      may_answer: true,
      answered: true,
      have: 1,
    });
    expect(viewOf(entry, bob, settings)).toMatchObject({ answered: false, have: 1 });
  });
});
