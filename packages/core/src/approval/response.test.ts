import fc from "fast-check";
import { describe, expect, it } from "vitest";
import vectors from "../../../../spec/vectors/responses.json" with { type: "json" };
import { makeResponse, parseResponse } from "./response.js";

const request = { id: "cr_1", nonce: "n_1" };
const nowMs = 1_768_473_000_000;
const yes = makeResponse(request, { decision: "approved", nowMs, channel: "terminal" });

describe("makeResponse()", () => {
  it("writes S0 §4.2's fields", () => {
    expect(yes).toEqual({
      type: "consent_response",
      version: "0.2.0",
      request_id: "cr_1",
      timestamp: "2026-01-15T10:30:00.000Z",
      decision: "approved",
      approver: { id: "local", channel: "terminal" },
      modifications: null,
      conditions: { valid_until: "2026-01-15T10:35:00.000Z", single_use: true },
      nonce: "n_1",
    });
  });
});

describe("parseResponse()", () => {
  it("reads what makeResponse() writes: as object, text and bytes", () => {
    const edited = makeResponse(request, {
      decision: "approved_with_modifications",
      nowMs,
      channel: "terminal",
      modifications: { a: 1 },
      reason: "ok",
      grantId: "t",
    });
    const want = {
      requestId: "cr_1",
      nonce: "n_1",
      decision: "approved_with_modifications",
      modifications: { a: 1 },
      reason: "ok",
      grantId: "t",
      validUntilMs: nowMs + 300_000,
    };
    expect(parseResponse(edited)).toEqual(want);
    expect(parseResponse(JSON.stringify(edited))).toEqual(want);
    expect(parseResponse(new TextEncoder().encode(JSON.stringify(edited)))).toEqual(want);
  });

  it.each(vectors.cases)("reads or refuses $name", ({ claim, expect: want }) => {
    if ("error" in want)
      expect(() => parseResponse(claim)).toThrow(expect.objectContaining({ code: want.error }));
    else expect(parseResponse(claim)).toMatchObject(want);
  });

  it("keeps nothing of the claim's own approver", () => {
    expect(parseResponse({ ...yes, approver: { id: "root", channel: "x" } })).not.toHaveProperty(
      "approver",
    );
  });

  it("throws a ConsentError, and nothing else, for anything at all", () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
        (claim) => {
          try {
            parseResponse(claim);
            return false;
          } catch (error) {
            return error instanceof Error && error.name === "ConsentError";
          }
        },
      ),
    );
  });
});
