import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as native from "../src/crypto/node.js";
import * as portable from "../src/crypto/portable.js";
import { outcome } from "./arbitraries.js";

const bytes = (length: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: length, maxLength: length });
const message = fc.uint8Array({ maxLength: 300 });

describe("both backends of #crypto", () => {
  it("give the same hash, MAC and derived key", () => {
    fc.assert(
      fc.property(
        message,
        message,
        message,
        fc.integer({ min: 1, max: 200 }),
        (key, salt, text, length) => {
          const options = { salt, info: text, length };
          expect(portable.sha256Hex(text)).toBe(native.sha256Hex(text));
          expect(portable.hmacSha256(key, text)).toEqual(native.hmacSha256(key, text));
          expect(portable.hkdfSha256(key, options)).toEqual(native.hkdfSha256(key, options));
        },
      ),
    );
  });

  it("seal to the same bytes and open each other's", () => {
    fc.assert(
      fc.property(
        bytes(32),
        bytes(12),
        fc.option(message, { nil: undefined }),
        message,
        (key, iv, aad, plaintext) => {
          const terms = aad === undefined ? { key, iv } : { key, iv, aad };
          const sealed = native.aes256GcmSeal(terms, plaintext);
          expect(portable.aes256GcmSeal(terms, plaintext)).toEqual(sealed);
          expect([native, portable].map((each) => each.aes256GcmOpen(terms, sealed))).toEqual([
            plaintext,
            plaintext,
          ]);
        },
      ),
    );
  });

  it("make the same keys and signatures and verify each other's", () => {
    fc.assert(
      fc.property(bytes(32), message, (seed, text) => {
        const ours = native.createEd25519Signer(seed);
        const theirs = portable.createEd25519Signer(seed);
        expect(theirs.publicKey).toEqual(ours.publicKey);
        const signature = ours.sign(text);
        expect(theirs.sign(text)).toEqual(signature);
        for (const each of [native, portable])
          expect(each.createEd25519Verifier(ours.publicKey)(signature, text)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it("take and refuse the same keys, whatever the bytes", () => {
    const near = fc.tuple(
      fc.integer({ min: 0, max: 255 }),
      fc.constantFrom(0, 0xff),
      fc.integer({ min: 0, max: 255 }),
    );
    const edge = near.map(([low, middle, high]) =>
      new Uint8Array(32).fill(middle).with(0, low).with(31, high),
    );
    fc.assert(
      fc.property(fc.oneof(bytes(32), edge, fc.uint8Array({ maxLength: 40 })), (key) => {
        const codes = [native, portable].map((each) => {
          const made = outcome(() => each.createEd25519Verifier(key));
          return "code" in made ? made.code : "taken";
        });
        expect(codes[0]).toBe(codes[1]);
      }),
      { numRuns: 400 },
    );
  });

  it("refuse a signature, message or key with one bit flipped, and say the same of any bytes in their place", () => {
    const signer = native.createEd25519Signer(new Uint8Array(32).fill(5));
    const text = new TextEncoder().encode("the message");
    const whole = [...signer.publicKey, ...signer.sign(text), ...text];
    const split = (all: readonly number[]) => ({
      key: Uint8Array.from(all.slice(0, 32)),
      signature: Uint8Array.from(all.slice(32, 96)),
      message: Uint8Array.from(all.slice(96)),
    });
    const judge = (each: typeof native | typeof portable, all: readonly number[]): boolean => {
      const { key, signature, message: said } = split(all);
      const made = outcome(() => each.createEd25519Verifier(key));
      return "value" in made && made.value(signature, said);
    };
    expect([judge(native, whole), judge(portable, whole)]).toEqual([true, true]);
    for (let bit = 0; bit < 8 * whole.length; bit++) {
      const flipped = whole.with(bit >> 3, (whole[bit >> 3] ?? 0) ^ (1 << (bit & 7)));
      expect(judge(native, flipped), `bit ${bit}`).toBe(false);
      if (bit % 7 === 0) expect(judge(portable, flipped), `bit ${bit}`).toBe(false);
    }
    fc.assert(
      fc.property(bytes(64), (signature) => {
        const all = [...signer.publicKey, ...signature, ...text];
        expect(judge(portable, all)).toBe(judge(native, all));
      }),
    );
  });
});
