import { describe, expect, it } from "vitest";
import { changed, signed } from "../../test/proof-kit.js";
import { consentPayload } from "../proof.js";

describe("consentPayload()", () => {
  it("is what the proof of a signed answer says that it signed", async () => {
    const { request, response } = await signed({ reason: "fine" });
    expect(consentPayload(response, request).hash).toBe(
      (response["proof"] as { signed_payload_hash: string }).signed_payload_hash,
    );
    expect(consentPayload(changed(response, "proof", undefined), request).hash).toBe(
      consentPayload(response, request).hash,
    );
  });

  it("differs for every change of the answer, and of the question", async () => {
    const { request, response } = await signed();
    const all = [
      consentPayload(response, request),
      consentPayload({ ...response, decision: "denied" }, request),
      consentPayload({ ...response, approver: { id: "bob", channel: "terminal" } }, request),
      consentPayload(changed(response, "timestamp", "2026-01-15T10:30:21.000Z"), request),
      consentPayload(response, changed(request, "text", "something else")),
    ];
    expect(new Set(all.map(({ hash }) => hash)).size).toBe(all.length);
  });

  it("refuses what is no answer, no question, or an answer to another one", async () => {
    const { request, response } = await signed();
    const cases = [
      [{}, request],
      [response, {}],
      [{ ...response, nonce: "n_2" }, request],
      [{ ...response, request_id: "cr_2" }, request],
      [{ ...response, approved: "no" }, request],
    ] as const;
    for (const [answer, question] of cases)
      expect(() => consentPayload(answer, question)).toThrow(
        expect.objectContaining({ code: "message_invalid" }),
      );
  });
});
