import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readChallenge } from "./challenge.js";

describe("readChallenge()", () => {
  it.each([
    ["Bearer", {}],
    ['bearer scope="a b a"', { scopes: ["a", "b"] }],
    ['Bearer realm="x, Basic y", error=invalid_token', { error: "invalid_token" }],
    [
      'Basic realm="a", Bearer resource_metadata="https://a/b"',
      { resourceMetadata: "https://a/b" },
    ],
    ['Bearer error="x", Digest error="y", scope="z"', { error: "x" }],
    ['Bearer error="a\\"b"', { error: 'a"b' }],
    ['Bearer scope="a", scope="b"', {}],
    ['Bearer scope="a\u0007b"', {}],
    ['Bearer scope=""', {}],
  ])("of %j is %j", (header, challenge) => {
    expect(readChallenge(header)).toEqual(challenge);
  });

  it.each([undefined, "", "Basic x", "Negotiate abc==", '"Bearer"', "é"])(
    "of %j is none",
    (header) => {
      expect(readChallenge(header)).toBeUndefined();
    },
  );

  it("never throws, and gives nothing but scopes that are some", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii", maxLength: 200 }), (text) => {
        const { scopes = [] } = readChallenge(`Bearer ${text}`) ?? {};
        for (const scope of scopes) expect(scope).toMatch(/^[!#-[\]-~]+$/u);
      }),
    );
  });
});
