import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createClientCalls } from "./calls.js";

const SECRET = "0f".repeat(32);
const body = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** As spec/resident.md §5.1 says it. */
const idOf = (secret: string, n: number): string =>
  `cc_${createHmac("sha256", secret).update(`call ${n}`).digest("hex").slice(0, 16)}${createHash("sha256").update(`client ${secret}`).digest("hex").slice(0, 16)}`;

describe("createClientCalls()", () => {
  it("names a call once, by the id of its request", () => {
    const calls = createClientCalls(SECRET);
    expect(calls.take(body({ id: 7, n: 1 }))).toBe(true);
    expect(calls.take(body({ id: "7", n: 3 }))).toBe(true);
    expect(calls.callOf("7")).toBe(idOf(SECRET, 3));
    expect(calls.callOf(7)).toBe(idOf(SECRET, 1));
    expect(calls.callOf(7)).toBeUndefined();
    expect(idOf(SECRET, 3).endsWith(calls.client)).toBe(true);
  });

  it("names it by HMAC, whatever its secret is", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 200 }), fc.nat(), (secret, n) => {
        const calls = createClientCalls(secret);
        calls.take(body({ id: 1, n: n + 1 }));
        expect(calls.callOf(1)).toBe(idOf(secret, n + 1));
      }),
    );
  });

  it("forgets what was answered without a call, and nothing that may still come", () => {
    const calls = createClientCalls(SECRET);
    const lines = 80_000;
    for (let n = 1; n <= lines; n++) calls.take(body({ id: n, n }));
    expect(calls.callOf(1)).toBeUndefined();
    // As many as fit into the room for input.
    expect(calls.callOf(lines - 32_767)).toBe(idOf(SECRET, lines - 32_767));
    expect(calls.callOf(lines)).toBe(idOf(SECRET, lines));
  });

  it("takes no number twice, none that goes back, and nothing that is none", () => {
    const calls = createClientCalls(SECRET);
    expect(calls.take(body({ id: 1, n: 5 }))).toBe(true);
    for (const wrong of [
      { id: 2, n: 5 },
      { id: 2, n: 4 },
      { id: 2, n: 0 },
      { id: 2, n: 6.5 },
      { id: 2, n: "6" },
      { id: null, n: 6 },
      { id: 1.5, n: 6 },
      { n: 6 },
      [],
    ])
      expect(calls.take(body(wrong))).toBe(false);
    expect(calls.callOf(2)).toBeUndefined();
    expect(calls.take(body({ id: 2, n: 6 }))).toBe(true);
  });

  it("asks about calls of its own secret alone, whatever is asked", () => {
    const one = createClientCalls(SECRET);
    expect(one.asked(body({ calls: [{ n: 2, ms: 10 }] }))).toEqual(
      new Map([[2, { call: idOf(SECRET, 2), agoMs: 10 }]]),
    );
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (calls) => {
        for (const { call } of one.asked(body({ calls }))?.values() ?? [])
          expect(call.endsWith(one.client)).toBe(true);
      }),
    );
    for (const wrong of [
      {},
      { calls: {} },
      { calls: [null] },
      { calls: [{ n: 1 }] },
      { calls: [{ n: -1, ms: 0 }] },
      { calls: [{ n: 1, ms: -1 }] },
      { calls: [{ call: idOf("other", 1), ms: 0 }] },
      { calls: Array.from({ length: 10_001 }, (_, n) => ({ n: n + 1, ms: 0 })) },
    ])
      expect(one.asked(body(wrong))).toBeUndefined();
  });

  it("gives ids of one form, which no other number and no other client has", () => {
    const secret = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((bytes) => Buffer.from(bytes).toString("hex"));
    const n = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(secret, secret, n, n, (a, b, x, y) => {
        const name = (from: string, number: number): string => {
          const calls = createClientCalls(from);
          calls.take(body({ id: 1, n: number }));
          return calls.callOf(1) ?? "";
        };
        expect(name(a, x)).toMatch(/^cc_[0-9a-f]{32}$/);
        expect(name(a, x) === name(b, y)).toBe(a === b && x === y);
      }),
    );
  });
});
