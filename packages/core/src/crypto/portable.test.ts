import { describe, expect, it } from "vitest";
import * as native from "./node.js";
import * as portable from "./portable.js";

const rejected = expect.objectContaining({ code: "key_rejected" });
const invalid = expect.objectContaining({ code: "options_invalid" });
const bytes = (length: number, value = 1): Uint8Array => new Uint8Array(length).fill(value);
const terms = { key: bytes(32), iv: bytes(12) };

it("both backends have the same functions", () => {
  expect(Object.keys(portable).sort()).toEqual(Object.keys(native).sort());
});

describe.each([
  ["node.ts", native],
  ["portable.ts", portable],
])("%s", (_, crypto) => {
  it("aes256GcmOpen() gives back what was sealed, and nothing after any change", () => {
    const plaintext = bytes(50, 7);
    const aad = bytes(3, 9);
    const sealed = crypto.aes256GcmSeal({ ...terms, aad }, plaintext);
    expect(crypto.aes256GcmOpen({ ...terms, aad }, sealed)).toEqual(plaintext);
    const flip = (each: Uint8Array): Uint8Array => each.with(0, (each[0] ?? 0) ^ 1);
    expect(
      crypto.aes256GcmOpen({ ...terms, aad }, { ...sealed, ciphertext: flip(sealed.ciphertext) }),
    ).toBeUndefined();
    expect(
      crypto.aes256GcmOpen({ ...terms, aad }, { ...sealed, tag: flip(sealed.tag) }),
    ).toBeUndefined();
    expect(crypto.aes256GcmOpen({ ...terms, aad: flip(aad) }, sealed)).toBeUndefined();
    expect(crypto.aes256GcmOpen(terms, sealed)).toBeUndefined();
    expect(crypto.aes256GcmOpen({ ...terms, aad, iv: flip(terms.iv) }, sealed)).toBeUndefined();
    expect(crypto.aes256GcmOpen({ ...terms, aad, key: flip(terms.key) }, sealed)).toBeUndefined();
  });

  it("aes256GcmOpen() takes no short tag and no other iv", () => {
    const sealed = crypto.aes256GcmSeal(terms, bytes(5));
    for (const length of [0, 4, 8, 12, 15])
      expect(
        crypto.aes256GcmOpen(terms, { ...sealed, tag: sealed.tag.slice(0, length) }),
      ).toBeUndefined();
    for (const length of [0, 8, 11, 13, 16])
      expect(crypto.aes256GcmOpen({ ...terms, iv: bytes(length) }, sealed)).toBeUndefined();
  });

  it.each([0, 16, 24, 31, 33])(
    "refuses an AES key of %d bytes, and an iv of another length on sealing",
    (length) => {
      expect(() => crypto.aes256GcmSeal({ ...terms, key: bytes(length) }, bytes(1))).toThrow(
        rejected,
      );
      expect(() =>
        crypto.aes256GcmOpen(
          { ...terms, key: bytes(length) },
          { ciphertext: bytes(1), tag: bytes(16) },
        ),
      ).toThrow(rejected);
      expect(() => crypto.aes256GcmSeal({ ...terms, iv: bytes(length) }, bytes(1))).toThrow(
        rejected,
      );
    },
  );

  it("hkdfSha256() refuses lengths and infos that another backend would not take", () => {
    const derive = (info: number, length: number) => () =>
      crypto.hkdfSha256(bytes(32), { salt: bytes(32), info: bytes(info), length });
    for (const length of [0, -1, 0.5, Number.NaN, 8_161])
      expect(derive(1, length)).toThrow(invalid);
    expect(derive(1_025, 32)).toThrow(invalid);
    expect(derive(1_024, 8_160)()).toHaveLength(8_160);
  });

  it("randomBytes() draws other bytes each time, and refuses sizes that some backend would not draw", () => {
    expect(crypto.randomBytes(32)).toHaveLength(32);
    expect(crypto.randomBytes(32)).not.toEqual(crypto.randomBytes(32));
    expect(crypto.randomBytes(65_536).some((byte) => byte !== 0)).toBe(true);
    for (const length of [0, -1, 1.5, Number.NaN, 65_537])
      expect(() => crypto.randomBytes(length)).toThrow(invalid);
  });

  it("equalBytes() compares whole strings of bytes", () => {
    expect(crypto.equalBytes(bytes(3), bytes(3))).toBe(true);
    expect(crypto.equalBytes(bytes(3), bytes(3).with(2, 0))).toBe(false);
    expect(crypto.equalBytes(bytes(3), bytes(4))).toBe(false);
    expect(crypto.equalBytes(bytes(0), bytes(0))).toBe(true);
  });

  it("createEd25519Signer() keeps its own copy of the seed", () => {
    const seed = bytes(32);
    const signer = crypto.createEd25519Signer(seed);
    const before = signer.sign(bytes(4));
    seed.fill(2);
    expect(signer.sign(bytes(4))).toEqual(before);
    expect(() => crypto.createEd25519Signer(bytes(31))).toThrow(rejected);
  });

  it("createEd25519Verifier() keeps its own copy of the key", () => {
    const signer = crypto.createEd25519Signer(bytes(32));
    const key = Uint8Array.from(signer.publicKey);
    const verify = crypto.createEd25519Verifier(key);
    key.fill(0);
    expect(verify(signer.sign(bytes(4)), bytes(4))).toBe(true);
  });

  it("gives plain bytes, never a Buffer", () => {
    const signer = crypto.createEd25519Signer(bytes(32));
    const sealed = crypto.aes256GcmSeal(terms, bytes(5));
    const made = [
      crypto.randomBytes(8),
      crypto.hmacSha256(bytes(1), bytes(1)),
      crypto.hkdfSha256(bytes(1), { salt: bytes(0), info: bytes(0), length: 8 }),
      sealed.ciphertext,
      sealed.tag,
      crypto.aes256GcmOpen(terms, sealed),
      signer.publicKey,
      signer.sign(bytes(1)),
    ];
    for (const each of made) expect(Object.getPrototypeOf(each)).toBe(Uint8Array.prototype);
  });

  it("randomId() is a UUID of version 4", () => {
    expect(crypto.randomId()).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });
});
