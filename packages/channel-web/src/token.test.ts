import { expect, it } from "vitest";
import { hasHash, hashOf, makeToken } from "./token.js";

it("makeToken() gives 256 random bits as base64url", () => {
  const tokens = Array.from({ length: 100 }, makeToken);
  expect(new Set(tokens).size).toBe(100);
  for (const token of tokens) expect(token).toMatch(/^[\w-]{43}$/);
});

it("hasHash() takes the text that was hashed, and no other", () => {
  const token = makeToken();
  expect(hasHash(token, hashOf(token))).toBe(true);
  expect(hasHash(`${token}A`, hashOf(token))).toBe(false);
  expect(hasHash("", hashOf(token))).toBe(false);
  const long = "x".repeat(257);
  expect(hasHash(long, hashOf(long))).toBe(false);
});
