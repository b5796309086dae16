import { expect, it } from "vitest";
import { toolAction } from "./action.js";
import { actionDigest, sha256Digest } from "./digest.js";

it("sha256Digest() is SHA-256 over the UTF-8 bytes of the canonical text", () => {
  // printf '{"a":"é","b":1}' | sha256sum
  expect(sha256Digest({ b: 1, a: "é" })).toBe(
    "sha256:aa58fba8483623bed37c1b02edfccbdd9a53123837c20bfa4cb4049993a2872e",
  );
});

it("sha256Digest() refuses what has no canonical text", () => {
  expect(() => sha256Digest({ a: Number.NaN })).toThrow(
    expect.objectContaining({ code: "json_not_data" }),
  );
});

it("actionDigest() covers name, args and meta, whatever the order of keys", () => {
  const digest = actionDigest(toolAction("s", "t", { a: 1, b: 2 }));
  // printf '{"args":{"a":1,"b":2},"meta":{"kind":"tool","server":"s"},"name":"t"}' | sha256sum
  expect(digest).toBe("sha256:f01cb35e82294723fcee1f080cf4188c49e3bdc7a3d8b7667aabc58d13edcb45");
  const others = [
    toolAction("s", "t", { b: 2, a: 1 }),
    toolAction("s", "t", { a: 1 }),
    toolAction("s", "u", { a: 1, b: 2 }),
    toolAction("u", "t", { a: 1, b: 2 }),
  ];
  expect(others.map((other) => actionDigest(other) === digest)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

it("actionDigest() refuses what no constructor made, so that no digest outlives a change", () => {
  const action = toolAction("s", "t", {});
  expect(actionDigest(action)).toBe(actionDigest(action));
  expect(() => actionDigest({ ...action })).toThrow(
    expect.objectContaining({ code: "action_invalid" }),
  );
});
