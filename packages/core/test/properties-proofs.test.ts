import fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalJson, type JsonObject, parseJson } from "../src/index.js";
import { verifyConsentProof } from "../src/proof.js";
import { anyObject, outcome, text } from "./arbitraries.js";
import { question, signed, trusted } from "./proof-kit.js";

const trustedKeys = [trusted];
const encoder = new TextEncoder();

/** Whether the bytes still say the same: `1E+21` for `1e+21`, `\u001F` for `\u001f`. */
function saysTheSame(bytes: Uint8Array, original: string): boolean {
  const read = outcome(() => canonicalJson(parseJson(bytes)));
  return "value" in read && read.value === original;
}

it("verifyConsentProof() takes nothing with one bit flipped anywhere in response, request or proof", async () => {
  const parameters: JsonObject = {
    path: "a.txt",
    list: [1e21, "\u001f", null, true],
    deep: { ключ: "значение" },
  };
  const pair = await signed({ reason: "fine" }, { action: { ...question().action, parameters } });
  let flips = 0;
  for (const side of ["request", "response"] as const) {
    const original = canonicalJson(pair[side]);
    const bytes = encoder.encode(original);
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      const flipped = bytes.with(bit >> 3, (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7)));
      if (saysTheSame(flipped, original)) continue;
      const { request, response } = { ...pair, [side]: flipped } as Record<
        "request" | "response",
        unknown
      >;
      const result = await verifyConsentProof(response, request, { trustedKeys });
      expect({ side, bit, result }).toMatchObject({ result: { ok: false } });
      flips++;
    }
  }
  expect(flips).toBeGreaterThan(12_000);
});

it("verifyConsentProof() takes every signed answer, and none with one value changed, added or taken away", async () => {
  const sameText = (left: unknown, right: unknown): boolean =>
    JSON.stringify(left) === JSON.stringify(right);
  await fc.assert(
    fc.asyncProperty(
      anyObject,
      text,
      fc.option(anyObject, { nil: undefined }),
      anyObject,
      async (parameters, reason, edit, other) => {
        const decision =
          edit === undefined ? ("approved" as const) : ("approved_with_modifications" as const);
        const parts = { decision, reason, ...(edit === undefined ? {} : { modifications: edit }) };
        const { request, response } = await signed(parts, {
          action: { ...question().action, parameters },
        });
        expect(await verifyConsentProof(response, request, { trustedKeys })).toMatchObject({
          ok: true,
          decision,
        });
        const action = request["action"] as JsonObject;
        if (canonicalJson(other) !== canonicalJson(parameters)) {
          const changed = { ...request, action: { ...action, parameters: other } };
          expect(await verifyConsentProof(response, changed, { trustedKeys })).toMatchObject({
            code: "request_changed",
          });
        }
        for (const key of Object.keys(response)) {
          const { [key]: _, ...less } = response;
          const lessened = await verifyConsentProof(less, request, { trustedKeys });
          expect({ key, lessened }).toMatchObject({ lessened: { ok: false } });
          if (sameText(response[key], reason)) continue;
          const replaced = await verifyConsentProof({ ...response, [key]: reason }, request, {
            trustedKeys,
          });
          expect({ key, replaced }).toMatchObject({ replaced: { ok: false } });
        }
      },
    ),
  );
});
