import fc from "fast-check";
import { describe, expect, it } from "vitest";
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
    const edited = makeResponse(request, { decision: "approved_with_modifications", nowMs, channel: "terminal", modifications: { a: 1 }, reason: "ok", grantId: "t" });
    const want = { requestId: "cr_1", nonce: "n_1", decision: "approved_with_modifications", modifications: { a: 1 }, reason: "ok", grantId: "t", validUntilMs: nowMs + 300_000 };
    expect(parseResponse(edited)).toEqual(want);
    expect(parseResponse(JSON.stringify(edited))).toEqual(want);
    expect(parseResponse(new TextEncoder().encode(JSON.stringify(edited)))).toEqual(want);
  });

  it("never trusts the claim's own approver", () => {
    expect(parseResponse({ ...yes, approver: { id: "root", channel: "x" } })).not.toHaveProperty("approver");
  });

  it.each([
    ["no decision", { decision: undefined }],
    ["a decision of another case", { decision: "Approved" }],
    ["an empty decision", { decision: "" }],
    ["a list with a decision", { decision: ["approved"] }],
    ["another type", { type: "consent_request" }],
    ["another version", { version: "1" }],
    ["a nonce that is no text", { nonce: 1 }],
    ["a reason that is too long", { reason: "x".repeat(1_001) }],
    ["modifications that are a list", { decision: "approved_with_modifications", modifications: [] }],
    ["an edit without modifications", { decision: "approved_with_modifications", modifications: null }],
    ["single_use as text", { conditions: { valid_until: "2030-01-01T00:00:00Z", single_use: "true" } }],
    ["a validity that is no time", { conditions: { valid_until: "2030-13-01T00:00:00Z", single_use: true } }],
    ["conditions with a key of their own", { conditions: { valid_until: "2030-01-01T00:00:00Z", single_use: true, always: true } }],
    ["a denial with an offer", { decision: "denied", grant: "t" }],
  ])("refuses %s", (_, change) => {
    expect(() => parseResponse(JSON.parse(JSON.stringify({ ...yes, ...change })))).toThrow(expect.objectContaining({ code: "message_invalid" }));
  });

  it("throws a ConsentError, and nothing else, for anything at all", () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }), (claim) => {
        try {
          parseResponse(claim);
          return false;
        } catch (error) {
          return error instanceof Error && error.name === "ConsentError";
        }
      }),
    );
  });
});
