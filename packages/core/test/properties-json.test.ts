import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, copyJson, parseJson, scanJson, toolAction } from "../src/index.js";
import type { JsonValue } from "../src/index.js";
import { anyJson, anyObject, outcome, text } from "./arbitraries.js";

/** The same data with the members of every object in another order. */
function shuffled(value: JsonValue, seed: number): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => shuffled(item, seed + 1));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(
    ([key, member]) => [key, shuffled(member, seed * 31 + 7)] as const,
  );
  return Object.fromEntries(
    entries
      .sort(
        ([one], [other]) => ((one.length * 7919 + seed) % 5) - ((other.length * 7919 + seed) % 5),
      )
      .toReversed(),
  );
}

/** RFC 8785 in the plainest words, to compare with. */
function reference(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(reference).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${reference(member)}`).join(",")}}`;
}

/** What we refuse and JSON.parse reads. */
const STRICTER = ["json_duplicate_key", "json_lone_surrogate", "json_unsafe_integer"];

function holdsInfinity(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.values(value).some(holdsInfinity);
  return value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY;
}

function boom(): never {
  throw new Error("trap");
}

describe("JSON properties", () => {
  it("canonicalJson() writes what RFC 8785 says, and parseJson() reads the same value back", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const written = canonicalJson(value);
        expect(written).toBe(reference(value));
        expect(canonicalJson(parseJson(written, { integers: "canonical" }))).toBe(written);
        expect(canonicalJson(copyJson(value))).toBe(written);
      }),
    );
  });

  it("canonicalJson() does not depend on the order of members", () => {
    fc.assert(
      fc.property(anyJson, fc.nat(), (value, seed) => {
        expect(canonicalJson(shuffled(value, seed))).toBe(canonicalJson(value));
      }),
    );
  });

  it("parseJson() reads what JSON.parse reads, or refuses by one of its own codes; what JSON.parse refuses it refuses", () => {
    const piece = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      '"',
      "\\",
      "\\u0061",
      "\\ud800",
      "a",
      '"a"',
      '"b":',
      "1",
      "-",
      "0",
      ".5",
      "e9",
      "true",
      "null",
      " ",
      "\n",
      "\u0001",
      "é",
      "😀",
      "9007199254740993",
    ); // prettier-ignore
    const almost = fc.oneof(
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("")),
      fc.tuple(anyJson, fc.nat(), piece).map(([value, at, insert]) => {
        const whole = JSON.stringify(value, null, 1);
        return (
          whole.slice(0, at % (whole.length + 1)) +
          insert +
          whole.slice((at % (whole.length + 1)) + (at % 2))
        );
      }),
    );
    fc.assert(
      fc.property(almost, (source) => {
        const ours = outcome(() => parseJson(source));
        let theirs: { readonly value: unknown } | undefined;
        try {
          theirs = { value: JSON.parse(source) };
        } catch {
          theirs = undefined;
        }
        const code = "code" in ours ? ours.code : "read";
        const allowed =
          theirs === undefined
            ? ["json_invalid", ...STRICTER]
            : ["read", ...STRICTER, ...(holdsInfinity(theirs.value) ? ["json_invalid"] : [])];
        expect(allowed).toContain(code);
        if (code === "read") assert.deepEqual(ours, theirs);
      }),
      { numRuns: 1_000 },
    );
  });

  it("scanJson() finds spans whose text parses to the member", () => {
    fc.assert(
      fc.property(anyObject, anyJson, (params, args) => {
        const message = { id: 1, params: { ...params, arguments: args, name: "x" } };
        const { spans, text: source } = scanJson(JSON.stringify(message, null, 2), {
          spans: ["params", "params.arguments"],
          integers: "canonical",
        });
        for (const [path, value] of Object.entries({
          params: message.params,
          "params.arguments": args,
        })) {
          const span = spans[path] ?? { start: 0, end: 0 };
          expect(JSON.parse(source.slice(span.start, span.end))).toEqual(
            JSON.parse(JSON.stringify(value)),
          );
        }
      }),
    );
  });

  it("copyJson() and canonicalJson() refuse what is not plain data wherever it hides, each by a code", () => {
    const hostile = fc.constantFrom<() => unknown>(
      () => undefined,
      () => Number.NaN,
      () => 1n,
      () => Symbol("s"),
      () => () => 1,
      () => new Date(0),
      () => new Map(),
      () => "\ud800",
      () => ({ toJSON: () => "forged" }),
      () => Object.defineProperty({}, "a", { get: () => 1, enumerable: true }),
      () => Object.create({ inherited: 1 }) as unknown,
      () => new Proxy({ a: 1 }, { getOwnPropertyDescriptor: boom }),
      () => [1, , 2], // oxlint-disable-line no-sparse-arrays
      () => {
        const cycle: unknown[] = [];
        cycle.push(cycle);
        return cycle;
      },
    );
    const wrap = fc.array(fc.oneof(fc.constant("array"), text), { maxLength: 5 });
    fc.assert(
      fc.property(hostile, wrap, anyJson, (make, wrappers, neighbour) => {
        let value = make();
        for (const key of wrappers)
          value =
            key === "array"
              ? [neighbour, value]
              : Object.fromEntries([
                  ["n", neighbour],
                  [key, value],
                ]);
        for (const use of [
          copyJson,
          canonicalJson,
          (args: unknown) => toolAction("s", "t", { args }),
        ]) {
          const result = outcome(() => use(value));
          expect("code" in result && result.code.startsWith("json_")).toBe(true);
        }
      }),
    );
  });
});
