import { describe, expect, it } from "vitest";
import type { ConsentErrorCode } from "../errors.js";
import { JSON_BYTES_MAX, JSON_DEPTH_MAX } from "../limits.js";
import { canonicalJson } from "./canonical.js";

const refusal = (code: ConsentErrorCode, path?: string): unknown =>
  expect.objectContaining(path === undefined ? { code } : { code, path });

function nested(depth: number): unknown {
  let value: unknown = {};
  for (let i = 1; i < depth; i++) value = { a: value };
  return value;
}

class Thing {
  readonly a = 1;
}

describe("canonicalJson()", () => {
  it.each<[unknown, string]>([
    [{ b: 1, a: [true, false, null] }, '{"a":[true,false,null],"b":1}'],
    [{}, "{}"],
    [[], "[]"],
    ["", '""'],
    [
      { 10: "ten", 9: "nine", "\r": 1, é: 2, "😀": 3, "\ufb33": 4 },
      '{"\\r":1,"10":"ten","9":"nine","é":2,"😀":3,"\ufb33":4}',
    ],
    [
      '\u0000\u0008\u000f\t\n\f\r"\\/\u007f\u2028€',
      '"\\u0000\\b\\u000f\\t\\n\\f\\r\\"\\\\/\u007f\u2028€"',
    ],
    ["\u0000".repeat(50), `"${"\\u0000".repeat(50)}"`],
    [-0, "0"],
    [1e21, "1e+21"],
    [1e20, "100000000000000000000"],
    [Number("333333333.33333329"), "333333333.3333333"],
    [1e-7, "1e-7"],
    [Number.MIN_VALUE, "5e-324"],
    [JSON.parse('{"__proto__":1,"a":2}'), '{"__proto__":1,"a":2}'],
    [Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
  ])("canonicalJson(%j) is its one text", (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it("canonicalJson() sorts any number of keys by UTF-16 units", () => {
    const keys = Array.from({ length: 300 }, (_, index) =>
      String.fromCodePoint(0x20 + ((index * 7919) % 0xd000)),
    );
    const text = canonicalJson(Object.fromEntries(keys.map((key) => [key, 0])));
    expect(
      Object.keys(
        JSON.parse(text.replaceAll(/"([^"\\]|\\.)+":/g, (key) => `"_${key.slice(1)}`)),
      ).map((key) => key.slice(1)),
    ).toEqual([...new Set(keys)].sort());
  });

  it.each<[string, unknown, ConsentErrorCode, string]>([
    ["undefined", undefined, "json_not_data", ""],
    ["an undefined member", { a: [{ b: undefined }] }, "json_not_data", "a[0].b"],
    ["NaN", { a: Number.NaN }, "json_not_data", "a"],
    ["-Infinity", [Number.NEGATIVE_INFINITY], "json_not_data", "[0]"],
    ["a bigint", [1n], "json_not_data", "[0]"],
    ["a function", { f: () => 1 }, "json_not_data", "f"],
    ["a symbol", [Symbol("s")], "json_not_data", "[0]"],
    ["a Date, whatever its toJSON says", { when: new Date(0) }, "json_not_data", "when"],
    ["a class instance", [new Thing()], "json_not_data", "[0]"],
    [
      "a getter",
      [Object.defineProperty({}, "a", { get: () => 1, enumerable: true })],
      "json_not_data",
      "[0].a",
    ],
    ["a hole", { a: [1, , 3] }, "json_not_data", "a"], // oxlint-disable-line no-sparse-arrays
    [
      "65 levels",
      nested(JSON_DEPTH_MAX + 1),
      "json_too_deep",
      Array.from({ length: JSON_DEPTH_MAX }, () => "a").join("."),
    ],
    ["an unpaired surrogate", { a: "\ud800" }, "json_lone_surrogate", "a"],
    [
      "an unpaired surrogate in a long text",
      ["\ud800".padStart(100)],
      "json_lone_surrogate",
      "[0]",
    ],
    ["an unpaired surrogate in a key", { "\ud800": 1 }, "json_lone_surrogate", ""],
  ])("canonicalJson() refuses %s", (_, value, code, path) => {
    expect(() => canonicalJson(value)).toThrow(refusal(code, path));
  });

  it("canonicalJson() refuses a cycle", () => {
    const value: unknown[] = [1];
    value.push({ value });
    expect(() => canonicalJson(value)).toThrow(refusal("json_not_data"));
  });

  it("canonicalJson() writes 64 levels", () => {
    expect(canonicalJson(nested(JSON_DEPTH_MAX))).toHaveLength(
      JSON_DEPTH_MAX * 2 + (JSON_DEPTH_MAX - 1) * 4,
    );
  });

  it("canonicalJson() stops at the limit, also when a few objects stand for very many", () => {
    let value: unknown = ["x".repeat(1_000)];
    for (let i = 0; i < 60; i++) value = [value, value];
    expect(() => canonicalJson(value)).toThrow(refusal("json_too_large"));
    expect(() => canonicalJson("x".repeat(JSON_BYTES_MAX))).toThrow(refusal("json_too_large"));
  });

  it("canonicalJson() calls no toJSON and no replacement of it on the prototypes", () => {
    const forged = { value: () => "forged", configurable: true };
    const prototypes = [Object.prototype, String.prototype];
    for (const prototype of prototypes) Object.defineProperty(prototype, "toJSON", forged);
    try {
      expect(canonicalJson({ a: "x\n".repeat(50) })).toBe(`{"a":"${"x\\n".repeat(50)}"}`);
    } finally {
      for (const prototype of prototypes) Reflect.deleteProperty(prototype, "toJSON");
    }
  });

  it("canonicalJson() takes each value once, and never through a proxy's get trap", () => {
    let described = 0;
    const shifty = new Proxy(
      { a: 0 },
      {
        get: () => "never",
        getOwnPropertyDescriptor: (object, key) => ({
          ...Reflect.getOwnPropertyDescriptor(object, key),
          value: ++described,
        }),
      },
    );
    expect(canonicalJson(shifty)).toBe('{"a":2}'); // 1 told Object.keys that the key is enumerable
    expect(described).toBe(2);
  });

  it("canonicalJson() refuses what cannot be read", () => {
    const boom = (): never => {
      throw new Error("trap");
    };
    const hostile = new Proxy({ a: 1 }, { getPrototypeOf: boom });
    expect(() => canonicalJson([hostile])).toThrow(refusal("json_not_data"));
    let calls = 0;
    const moody = new Proxy(
      { a: 1 },
      { getPrototypeOf: (target) => (calls++ === 0 ? boom() : Reflect.getPrototypeOf(target)) },
    );
    expect(() => canonicalJson([moody])).toThrow(refusal("json_not_data"));
  });
});
