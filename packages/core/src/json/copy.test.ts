import { describe, expect, it } from "vitest";
import type { ConsentErrorCode } from "../errors.js";
import { JSON_DEPTH_MAX } from "../limits.js";
import { canonicalJson } from "./canonical.js";
import { BYTES_PER_UNIT_MAX, copyJson, copyMeasured } from "./copy.js";

const refusal = (code: ConsentErrorCode, path?: string): unknown =>
  expect.objectContaining(path === undefined ? { code } : { code, path });

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let i = 1; i < depth; i++) value = [value];
  return value;
}

class Thing {
  readonly a = 1;
}

function boom(): never {
  throw new Error("trap");
}

/** 2^levels leaves in a handful of objects. */
function bomb(levels: number): unknown {
  let value: unknown = ["x".repeat(1_000)];
  for (let i = 0; i < levels; i++) value = [value, value];
  return value;
}

function computed(): object {
  return Object.defineProperty({}, "a", { get: () => 1, enumerable: true });
}

function cycle(): object {
  const inner: Record<string, unknown> = {};
  inner["list"] = [{ back: inner }];
  return inner;
}

describe("copyJson()", () => {
  it("copyJson() makes a frozen copy that shares nothing", () => {
    const value = { a: [1, { b: null }], c: "é", d: true };
    const copied = copyJson(value);
    expect(copied).toEqual(value);
    value.a[1] = 2;
    value.c = "changed";
    expect(copied).toEqual({ a: [1, { b: null }], c: "é", d: true });
    expect(Object.isFrozen(copied)).toBe(true);
    expect(Object.values(Object(copied)).every((child) => Object.isFrozen(child))).toBe(true);
  });

  it("copyJson() keeps __proto__ as data and takes objects without a prototype or from another realm", () => {
    expect(Object.getOwnPropertyNames(copyJson(JSON.parse('{"__proto__":{"a":1}}')))).toEqual([
      "__proto__",
    ]);
    const bare: unknown = Object.assign(Object.create(null), { a: 1 });
    expect(copyJson(bare)).toEqual({ a: 1 });
    const foreign: unknown = Object.create(Object.create(null), {
      a: { value: 1, enumerable: true },
    });
    expect(copyJson(foreign)).toEqual({ a: 1 });
  });

  it.each<[string, unknown, ConsentErrorCode, string]>([
    ["undefined", undefined, "json_not_data", ""],
    ["a member that is undefined", { a: { b: undefined } }, "json_not_data", "a.b"],
    ["NaN", [Number.NaN], "json_not_data", "[0]"],
    ["Infinity", { a: [0, Number.POSITIVE_INFINITY] }, "json_not_data", "a[1]"],
    ["a bigint", { n: 1n }, "json_not_data", "n"],
    ["a function", { f: () => 1 }, "json_not_data", "f"],
    ["a symbol", { s: Symbol("s") }, "json_not_data", "s"],
    ["a symbol as key", { a: { [Symbol("s")]: 1 } }, "json_not_data", "a"],
    ["a Date", { when: new Date(0) }, "json_not_data", "when"],
    ["a Map", { "odd key": new Map() }, "json_not_data", '["odd key"]'],
    ["a boxed string", { a: Object("x") }, "json_not_data", "a"],
    ["a typed array", { a: new Uint8Array(2) }, "json_not_data", "a"],
    ["a class instance", { a: new Thing() }, "json_not_data", "a"],
    ["an object that inherits data", Object.create({ a: 1 }), "json_not_data", ""],
    ["an own toJSON", { toJSON: () => "forged" }, "json_not_data", "toJSON"],
    ["a getter", { list: [computed()] }, "json_not_data", "list[0].a"],
    ["a hidden property", Object.defineProperty({}, "a", { value: 1 }), "json_not_data", "a"],
    ["a hole", { a: [1, , 3] }, "json_not_data", "a"], // oxlint-disable-line no-sparse-arrays
    ["a huge hole", { a: Object.assign([], { length: 4_294_967_295 }) }, "json_too_large", "a"],
    ["an array with a named property", Object.assign([1], { b: 2 }), "json_not_data", ""],
    [
      "an array with a getter",
      Object.defineProperty([0], 0, { get: () => 1, enumerable: true }),
      "json_not_data",
      "[0]",
    ],
    ["a cycle", cycle(), "json_not_data", `${"list[0].back.".repeat(21)}list`],
    ["65 levels", nested(JSON_DEPTH_MAX + 1), "json_too_deep", "[0]".repeat(JSON_DEPTH_MAX)],
    ["an unpaired surrogate", { a: ["x\ud800"] }, "json_lone_surrogate", "a[0]"],
    ["an unpaired surrogate in a key", { a: { "\udc00": 1 } }, "json_lone_surrogate", "a"],
  ])("copyJson() refuses %s", (_, value, code, path) => {
    expect(() => copyJson(value)).toThrow(refusal(code, path));
    expect(() => copyJson(value)).toThrow(/^Cannot use [^\n]*[^.\n]$/);
  });

  it("copyJson() names a getter as what it is", () => {
    expect(() => copyJson({ a: computed() })).toThrow(
      'Cannot use "a.a" as JSON: it is missing, hidden or computed by a getter',
    );
  });

  it("copyJson() takes 64 levels, and shared parts that are no cycle", () => {
    const shared = { a: 1 };
    expect(copyJson({ x: shared, y: [shared, shared] })).toEqual({
      x: { a: 1 },
      y: [{ a: 1 }, { a: 1 }],
    });
    expect(() => copyJson(nested(JSON_DEPTH_MAX))).not.toThrow();
  });

  it("copyJson() stops at the limit when a few objects stand for very many", () => {
    expect(() => copyJson(bomb(60))).toThrow(refusal("json_too_large"));
  });

  it("copyJson() reads each property of a proxy once, and never through its get trap", () => {
    const reads: string[] = [];
    const target = { path: "/safe", list: ["a"] };
    const shifty = new Proxy(target, {
      get: () => "/evil",
      getOwnPropertyDescriptor: (object, key) => {
        reads.push(String(key));
        return Reflect.getOwnPropertyDescriptor(object, key);
      },
    });
    expect(copyJson(shifty)).toEqual({ path: "/safe", list: ["a"] });
    expect(reads).toEqual(["path", "list"]);
  });

  it.each<[string, ProxyHandler<object>]>([
    ["ownKeys", { ownKeys: boom }],
    ["getPrototypeOf", { getPrototypeOf: boom }],
    ["getOwnPropertyDescriptor", { getOwnPropertyDescriptor: boom }],
  ])("copyJson() refuses a proxy whose %s trap throws", (_, handler) => {
    expect(() => copyJson({ a: new Proxy({ b: 1 }, handler) })).toThrow(refusal("json_not_data"));
  });

  it("copyJson() refuses a revoked proxy", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(() => copyJson(proxy)).toThrow(refusal("json_not_data"));
  });
});

describe("copyMeasured()", () => {
  it.each([
    [null],
    ["\u0001\u0001"],
    ["😀é"],
    [[[], {}, ""]],
    [{ a: -1.2345678901234567e-100 }],
    [[false, true, 0]],
    ["plain"],
  ])("copyMeasured(%j) bounds the canonical bytes from both sides", (value) => {
    const { units } = copyMeasured(value, 1_000);
    const bytes = new TextEncoder().encode(canonicalJson(value)).length;
    expect(bytes).toBeGreaterThanOrEqual(units);
    expect(bytes).toBeLessThanOrEqual(units * BYTES_PER_UNIT_MAX);
  });

  it("copyMeasured() refuses what is larger than its bound", () => {
    expect(copyMeasured(["aaaa"], 6).units).toBe(6);
    expect(() => copyMeasured(["aaaa"], 5)).toThrow(refusal("json_too_large", "[0]"));
  });
});
