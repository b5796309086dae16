import type { AnswerReceipt, JsonObject } from "@acp/core";
import { manualClock, sampleRequest } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { settled } from "../test/setup.js";
import type { OpenQuestion, QuestionChange, QuestionSource } from "./question-source.js";
import { type Change, createQuestions } from "./questions.js";
import { follow } from "./source.js";

/** A source whose changes a test writes. */
function scripted(pending: readonly OpenQuestion[] = []) {
  const waiting: ((result: IteratorResult<QuestionChange>) => void)[] = [];
  const ready: QuestionChange[] = [];
  const claims: JsonObject[] = [];
  let isOver = false;
  let fail: ((error: Error) => void) | undefined;
  const over = (): IteratorResult<QuestionChange> => ({ done: true, value: undefined });
  const end = (): void => {
    isOver = true;
    for (const take of waiting.splice(0)) take(over());
  };
  const source: QuestionSource = {
    pending: () => pending,
    changes: {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          const value = ready.shift();
          if (value !== undefined) return Promise.resolve({ done: false, value });
          if (isOver) return Promise.resolve(over());
          return new Promise((resolve, reject) => {
            waiting.push(resolve);
            fail = reject;
          });
        },
        return: async () => {
          end();
          return over();
        },
      }),
    },
    async answer(claim): Promise<AnswerReceipt> {
      claims.push(claim);
      return { status: "final", outcome: "approved" };
    },
  };
  const push = async (change: QuestionChange): Promise<void> => {
    const take = waiting.shift();
    if (take === undefined) ready.push(change);
    else take({ done: false, value: change });
    await settled();
  };
  return { source, push, end, claims, isOver: () => isOver, fail: (error: Error) => fail?.(error) };
}

function setUp() {
  const questions = createQuestions(manualClock());
  const changes: Change[] = [];
  questions.subscribe((change) => changes.push(change));
  const warnings: string[] = [];
  const closed = new AbortController();
  const parts = {
    questions,
    carrier: { channel: "terminal", subject: "local" },
    warn: (text: string) => void warnings.push(text),
    closed: closed.signal,
  };
  const ids = () => questions.open().map(({ question }) => question.request.id);
  return { questions, changes, warnings, closed, parts, ids };
}

const question = (id: string): OpenQuestion => ({
  request: sampleRequest({ id }),
  redelivery: false,
});

describe("follow()", () => {
  it("shows what is pending and what comes, and takes down what ends", async () => {
    const { parts, ids, changes } = setUp();
    const { source, push } = scripted([question("cr_1")]);
    void follow(source, parts);
    await push({ type: "open", question: question("cr_2") });
    expect(ids()).toEqual(["cr_1", "cr_2"]);
    await push({ type: "ended", id: "cr_1", ending: { status: "denied", reason: "no" } });
    await push({ type: "ended", id: "cr_x", ending: { status: "denied", reason: "no" } });
    expect(ids()).toEqual(["cr_2"]);
    expect(changes.at(-1)).toMatchObject({ type: "ended", ending: { status: "denied" } });
  });

  it("hands answers to the source", async () => {
    const { parts, questions } = setUp();
    const { source, claims } = scripted([question("cr_1")]);
    void follow(source, parts);
    const [entry] = questions.open();
    expect(await entry?.submit({ a: 1 }, { approver: "local", subject: "local" })).toEqual({
      status: "final",
      outcome: "approved",
    });
    expect(claims).toEqual([{ a: 1 }]);
  });

  it("takes everything down when the source ends, or fails", async () => {
    for (const how of ["end", "fail"] as const) {
      const { parts, ids, changes, warnings } = setUp();
      const script = scripted([question("cr_1"), question("cr_2")]);
      const following = follow(script.source, parts);
      await settled();
      if (how === "end") script.end();
      else script.fail(new Error("no socket"));
      await following;
      expect(ids()).toEqual([]);
      expect(changes.at(-1)).toMatchObject({ type: "lost" });
      expect(warnings).toEqual(how === "end" ? [] : [expect.stringContaining("no socket")]);
    }
  });

  it("never rejects, whatever a source does", async () => {
    const { parts, warnings } = setUp();
    const fail = (): never => {
      throw new Error("broken");
    };
    const broken: readonly QuestionSource[] = [
      { ...scripted().source, changes: { [Symbol.asyncIterator]: fail } },
      { ...scripted().source, pending: fail },
      { ...scripted().source, pending: () => [{ request: {} as never, redelivery: false }] },
    ];
    for (const source of broken) await expect(follow(source, parts)).resolves.toBeUndefined();
    expect(warnings).toHaveLength(3);
  });

  it("leaves a question alone that stands here from a gate of this process", async () => {
    const { parts, questions, ids } = setUp();
    const own = questions.put({
      carrier: { channel: "web" },
      question: question("cr_1"),
      submit: async () => ({ status: "final", outcome: "approved" }),
    });
    const { source, push, end } = scripted([question("cr_1")]);
    void follow(source, parts);
    await push({ type: "ended", id: "cr_1", ending: { status: "denied", reason: "no" } });
    expect(questions.find("cr_1")).toBe(own);
    end();
    await settled();
    expect(ids()).toEqual(["cr_1"]);
  });

  it("lets go of the source when the inbox closes", async () => {
    const { parts, closed } = setUp();
    const { source, isOver } = scripted();
    const following = follow(source, parts);
    await settled();
    closed.abort();
    await following;
    expect(isOver()).toBe(true);
  });
});
