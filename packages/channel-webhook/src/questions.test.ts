import { askDouble } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createQuestions } from "./questions.js";

describe("createQuestions()", () => {
  it("finds what is open, and remembers that it ended", () => {
    const questions = createQuestions();
    const ask = askDouble();
    expect(questions.find(ask.request.id)).toBeUndefined();
    questions.put(ask);
    expect(questions.find(ask.request.id)).toBe(ask);
    questions.end(ask);
    expect(questions.find(ask.request.id)).toBe("ended");
  });

  it("keeps a redelivered question when the session that it replaced ends", () => {
    const questions = createQuestions();
    const first = askDouble();
    const again = askDouble(first.request, { redelivery: true });
    questions.put(first);
    questions.put(again);
    questions.end(first);
    expect(questions.find(first.request.id)).toBe(again);
  });

  it("remembers a bounded number of ends", () => {
    const questions = createQuestions();
    const { session, request } = askDouble();
    for (let at = 0; at <= 10_000; at++) {
      const question = { session, request: { ...request, id: `cr_${at}` } };
      questions.put(question);
      questions.end(question);
    }
    expect(questions.find("cr_0")).toBeUndefined();
    expect(questions.find("cr_10000")).toBe("ended");
  });
});
