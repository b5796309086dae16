/** What holds for every message, and for every text that looks like one. */
import { isConsentError } from "@acp/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inLane } from "../../../tools/deep.js";
import { decodeMessage, encodeMessage } from "../src/codec.js";
import type { Message } from "../src/protocol.js";
import { createUuidV7 } from "../src/uuid-v7.js";

const nextId = createUuidV7();
const text = fc.string({ unit: "grapheme", maxLength: 200 });
const id = fc.stringMatching(/^[!-~]{1,128}$/);
const head = fc.record({ id, from: id, to: id });
const error = fc.record({ code: id, message: text });
/** Integers beyond ±(2^53−1) are refused on both sides (src/codec.test.ts). */
const isWritable = (value: unknown): boolean => !/\d{16}/.test(JSON.stringify(value));
const json = fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue().filter(isWritable), {
  maxKeys: 4,
});
const outcome = fc.oneof(
  json.map((payload) => ({ ok: true as const, payload })),
  error.map((failure) => ({ ok: false as const, error: failure })),
);
const request = fc
  .record(
    {
      agentId: fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }),
      command: text,
      cwd: text,
      riskLevel: fc.constantFrom("safe" as const, "needs-review" as const, "dangerous" as const),
      riskReasons: fc.array(text, { maxLength: 8 }),
      expiresAtMs: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    },
    { requiredKeys: ["agentId", "command", "riskLevel", "riskReasons", "expiresAtMs"] },
  )
  .map((payload) => ({ approvalId: nextId(), ...payload }));
const body = fc.oneof(
  request.map((payload) => ({ action: "exec-approval-request", payload }) as const),
  fc.constantFrom("allowed", "denied", "expired", "cancelled").map(
    (end) =>
      ({
        action: "exec-approval-ended",
        payload: { approvalId: nextId(), outcome: end },
      }) as const,
  ),
  fc
    .record({ requestId: id, method: id, params: json })
    .map((payload) => ({ action: "request", payload }) as const),
  fc
    .tuple(id, outcome)
    .map(([requestId, said]) => ({ action: "response", payload: { requestId, ...said } }) as const),
  fc
    .record({ deviceId: id, online: fc.boolean() })
    .map((payload) => ({ action: "presence", payload }) as const),
  fc.tuple(id, fc.option(error)).map(
    ([messageId, failure]) =>
      ({
        action: "receipt",
        payload:
          failure === null ? { messageId, ok: true } : { messageId, ok: false, error: failure },
      }) as const,
  ),
);
const messages: fc.Arbitrary<Message> = fc
  .tuple(head, body)
  .map(([top, rest]) => ({ ...top, ...rest }) as Message);

/** One change anywhere: a character in another's place, one more, one less, or half of it. */
const damage = fc.record({
  at: fc.nat(),
  kind: fc.constantFrom("replace", "insert", "delete", "cut"),
  by: fc.string({ unit: "binary", minLength: 1, maxLength: 3 }),
});

function damaged(
  whole: string,
  { at, kind, by }: { readonly at: number; readonly kind: string; readonly by: string },
): string {
  const here = at % (whole.length + 1);
  if (kind === "cut") return whole.slice(0, here);
  return (
    whole.slice(0, here) +
    (kind === "delete" ? "" : by) +
    whole.slice(kind === "insert" ? here : here + 1)
  );
}

/**
 * A message, or undefined for a refusal with a code of the codec's. Anything else that is thrown
 * fails the test.
 */
function decoded(whole: string): Message | undefined {
  try {
    return decodeMessage(whole);
  } catch (thrown) {
    if (
      isConsentError(thrown) &&
      (thrown.code === "message_invalid" || thrown.code.startsWith("json_"))
    )
      return undefined;
    throw thrown;
  }
}

describe("the codec", () => {
  it("reads back what it wrote, value for value and byte for byte", () => {
    fc.assert(
      fc.property(messages, (message) => {
        const written = encodeMessage(message);
        expect(decodeMessage(written)).toEqual(JSON.parse(JSON.stringify(message)));
        expect(encodeMessage(decodeMessage(written))).toBe(written);
      }),
      { numRuns: 2_000 },
    );
  });

  it("writes one text for a message, in whatever order its keys came", () => {
    fc.assert(
      fc.property(messages, (message) => {
        const turned = Object.fromEntries(
          Object.entries({
            ...message,
            payload: Object.fromEntries(Object.entries(message.payload).toReversed()),
          }).toReversed(),
        );
        expect(encodeMessage(turned as unknown as Message)).toBe(encodeMessage(message));
      }),
    );
  });

  it("refuses a damaged text, or reads a message that it would write itself: 10,000 cases", () => {
    let taken = 0;
    fc.assert(
      fc.property(messages, damage, (message, how) => {
        const found = decoded(damaged(encodeMessage(message), how));
        if (found === undefined) return;
        taken++;
        expect(decodeMessage(encodeMessage(found))).toEqual(found);
      }),
      { numRuns: 10_000 },
    );
    // Damage inside a text is another text: both sides of the property were reached.
    expect(taken).toBeGreaterThan(inLane(100));
    expect(taken).toBeLessThan(9_900);
  });

  it("throws nothing of its own for any text at all", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.json(),
          fc
            .json()
            .map((value) => `{"id":"a","from":"b","to":"c","action":"request","payload":${value}}`),
        ),
        (whole) => {
          decoded(whole);
        },
      ),
      { numRuns: 3_000 },
    );
  });
});
