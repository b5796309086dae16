import { describe, expect, it } from "vitest";
import { isSealedField, openField, sealField } from "./field.js";

const seed = new Uint8Array(32).fill(7);
const refused = expect.objectContaining({
  code: "vault_invalid",
  message:
    "Cannot open an encrypted field: the key is not the one it was encrypted with, or the field was changed or moved",
}) as Error;

describe("openField()", () => {
  it.each(["", "123:abc", "ü😀\n", "x".repeat(200_000)])("gives back what was sealed", (value) => {
    const sealed = sealField(value, "telegram.bot_token", seed);
    expect(isSealedField(sealed)).toBe(true);
    expect(sealed).toMatch(/^encrypted:[A-Za-z0-9_-]+$/);
    expect(openField(sealed, "telegram.bot_token", seed)).toBe(value);
    expect(sealField(value, "telegram.bot_token", seed)).not.toBe(sealed);
  });

  it("refuses another field, another key and every changed, missing or added character in the same words", () => {
    const sealed = sealField("123:abc", "a.b", seed);
    expect(() => openField(sealed, "a.c", seed)).toThrow(refused);
    expect(() => openField(sealed, "a.b", new Uint8Array(32))).toThrow(refused);
    for (let at = 0; at < sealed.length; at++) {
      for (const char of ["A", "B", "=", "+", " "]) {
        if (sealed[at] === char) continue;
        expect(() =>
          openField(sealed.slice(0, at) + char + sealed.slice(at + 1), "a.b", seed),
        ).toThrow(refused);
      }
      expect(() => openField(sealed.slice(0, at) + sealed.slice(at + 1), "a.b", seed)).toThrow(
        refused,
      );
    }
    for (const text of ["", "encrypted:", "plain", `${sealed}\n`])
      expect(() => openField(text, "a.b", seed)).toThrow(refused);
  });
});
