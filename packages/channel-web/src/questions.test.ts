import { type ConsentRequest, type Ending, encodeRequest } from "@acp/core";
import { manualClock, sampleRequest } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { settled } from "../test/setup.js";
import { type Carrier, type Change, type QuestionParts, createQuestions } from "./questions.js";

const ada = { approver: "ada", subject: "ada" };
const OVER: Ending = { status: "denied", reason: "no" };
const GATE: Carrier = { channel: "web" };
const OTHER_GATE: Carrier = { channel: "web" };
const SOURCE: Carrier = { channel: "terminal", subject: "local" };

function setUp() {
  const clock = manualClock();
  const questions = createQuestions(clock);
  const changes: Change[] = [];
  questions.subscribe((change) => changes.push(change));
  const asked = (overrides: Partial<ConsentRequest> = {}): ConsentRequest =>
    sampleRequest({ createdAtMs: clock.now(), ...overrides });
  const partsOf = (
    request: ConsentRequest,
    carrier: Carrier = GATE,
    redelivery = false,
  ): QuestionParts => ({
    carrier,
    question: { request, redelivery },
    submit: async () => ({ status: "final", outcome: "approved" }),
  });
  return { clock, questions, changes, asked, partsOf };
}

describe("createQuestions()", () => {
  it("holds a question until its end, and its id after that", () => {
    const { questions, changes, asked, partsOf, clock } = setUp();
    const request = asked();
    const entry = questions.put(partsOf(request));
    expect(questions.find(request.id)).toBe(entry);
    expect(entry?.wire).toEqual(encodeRequest(request));
    if (entry !== undefined) questions.end(entry, OVER);
    expect(questions.find(request.id)).toBe("ended");
    expect(questions.find("cr_x")).toBeUndefined();
    expect(questions.open()).toEqual([]);
    expect(changes).toEqual([
      { type: "open", entry },
      { type: "ended", entry, ending: OVER, atMs: clock.now() },
    ]);
  });

  it("puts up again what the same gate, or a gate of this process, shows again; the old one's end and loss change nothing", () => {
    const { questions, changes, asked, partsOf } = setUp();
    const request = asked();
    const first = questions.put(partsOf(request));
    const second = questions.put(partsOf(request));
    const third = questions.put(partsOf(request, OTHER_GATE, true));
    for (const old of [first, second]) {
      if (old === undefined) throw new Error("no entry");
      questions.lose(old);
      questions.end(old, OVER);
    }
    expect([questions.find(request.id), questions.lost()]).toEqual([third, []]);
    expect(changes.map(({ type }) => type)).toEqual(["open", "open", "open"]);
    expect(questions.open()).toEqual([third]);
  });

  it.each([
    ["another gate with the id", OTHER_GATE, false],
    ["a source with the id", SOURCE, false],
    ["a source that says it was shown before", SOURCE, true],
  ])("does not let %s take a question's place", (_what, carrier, redelivery) => {
    const { questions, asked, partsOf } = setUp();
    const request = asked();
    const first = questions.put(partsOf(request));
    expect(questions.put(partsOf(request, carrier, redelivery))).toBeUndefined();
    expect(questions.find(request.id)).toBe(first);
  });

  it("tells of a question again when one of its steps is due, while it is open", async () => {
    const { questions, changes, asked, partsOf, clock } = setUp();
    const escalation = [
      { afterMs: 1_000, approvers: ["ada"] },
      { afterMs: 2_000, channel: "web" },
      { afterMs: 3_000, approvers: ["bob"] },
    ];
    const entry = questions.put(partsOf(asked({ escalation })));
    await clock.advance(999);
    expect(changes).toHaveLength(1);
    await clock.advance(1);
    expect(changes).toHaveLength(2);
    await clock.advance(1_000);
    expect(changes).toHaveLength(2);
    if (entry !== undefined) questions.end(entry, OVER);
    await clock.advance(5_000);
    await settled();
    expect(changes.map(({ type }) => type)).toEqual(["open", "open", "ended"]);
  });

  it("keeps what was taken, also after the end, and counts", () => {
    const { questions, changes, asked, partsOf } = setUp();
    const entry = questions.put(partsOf(asked({ quorum: 2 })));
    if (entry === undefined) throw new Error("no entry");
    questions.take(entry, { by: ada, claim: { a: 1 }, have: 1 });
    expect([entry.have, [...entry.taken]]).toEqual([1, [["ada", { a: 1 }]]]);
    expect(changes).toHaveLength(2);
    questions.end(entry, OVER);
    questions.take(entry, { by: { approver: "bob", subject: "bob" }, claim: { b: 1 } });
    expect([...entry.taken.keys()]).toEqual(["ada", "bob"]);
    expect(changes).toHaveLength(3);
  });

  it("takes what was counted along where a gate shows its question again", () => {
    const { questions, asked, partsOf } = setUp();
    const request = asked({ quorum: 2 });
    const entry = questions.put(partsOf(request));
    if (entry !== undefined) questions.take(entry, { by: ada, claim: {}, have: 1 });
    expect(questions.put(partsOf(request, GATE, true))).toMatchObject({ have: 1 });
  });

  it("remembers ten thousand ids that ended", () => {
    const { questions, asked, partsOf } = setUp();
    const ids = Array.from({ length: 10_001 }, (_, n) => `cr_${n}`);
    for (const id of ids) {
      const entry = questions.put(partsOf(asked({ id })));
      if (entry !== undefined) questions.end(entry, OVER);
    }
    expect([questions.find("cr_0"), questions.find("cr_1"), questions.find("cr_10000")]).toEqual([
      undefined,
      "ended",
      "ended",
    ]);
  });

  it("clear() forgets and tells nobody", async () => {
    const { questions, changes, asked, partsOf, clock } = setUp();
    const entry = questions.put(
      partsOf(asked({ escalation: [{ afterMs: 1_000, approvers: ["ada"] }] })),
    );
    questions.clear();
    if (entry !== undefined) questions.end(entry, OVER);
    await clock.advance(1_000);
    expect([questions.open(), changes.length]).toEqual([[], 1]);
  });
});
