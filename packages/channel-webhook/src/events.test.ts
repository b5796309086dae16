import { decodeRequest, parseJson } from "@acp/core";
import { hidingCharactersIn, sampleRequest } from "@acp/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { endedEvent, questionEvent } from "./events.js";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const wellFormed = fc
  .string({ unit: "binary", maxLength: 40 })
  .filter((each) => each.isWellFormed());

describe("questionEvent()", () => {
  it("is the question, whatever it holds, and shows no character that hides", () => {
    fc.assert(
      fc.property(wellFormed, wellFormed, (one, other) => {
        const plain = sampleRequest();
        const request = {
          ...plain,
          text: one,
          action: { ...plain.action, parameters: { [one]: other, [other]: [one] } },
        };
        const { body } = questionEvent(request, undefined);
        expect(decodeRequest(parseJson(body))).toEqual(request);
        expect(hidingCharactersIn(text(body))).toEqual([]);
      }),
    );
  });

  it("holds links beside it, for any name", () => {
    const links = {
      "alice@example.com": "https://gate.example/q_1",
      ["__proto__"]: "https://gate.example/q_2",
    };
    expect(parseJson(questionEvent(sampleRequest(), links).body)).toMatchObject({ links });
  });

  it("has an id of its own each time, of a form that is sent", () => {
    const ids = Array.from({ length: 100 }, () => questionEvent(sampleRequest(), undefined).id);
    expect(new Set(ids).size).toBe(100);
    for (const id of ids) expect(id).toMatch(/^msg_[0-9a-f-]{36}$/);
  });
});

describe("endedEvent()", () => {
  it("names the question, how it ended and what took its place", () => {
    const request = sampleRequest();
    const { body } = endedEvent(
      request,
      { status: "superseded", reason: "a\u202eb", successorId: "cr_2" },
      0,
    );
    expect(text(body)).toContain("a\\u202eb");
    expect(parseJson(body)).toEqual({
      type: "consent_ended",
      version: "0.2.0",
      request_id: request.id,
      timestamp: "1970-01-01T00:00:00.000Z",
      status: "superseded",
      reason: "a\u202eb",
      successor_id: "cr_2",
    });
  });

  it("has no successor where there is none", () => {
    const { body } = endedEvent(sampleRequest(), { status: "denied", reason: "" }, 0);
    expect(Object.keys(Object(parseJson(body)))).not.toContain("successor_id");
  });
});
