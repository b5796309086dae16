import { describe, expect, it } from "vitest";
import type { ConsentErrorCode } from "../errors.js";
import { JSON_DEPTH_MAX } from "../limits.js";
import { parseJson, scanJson } from "./parse.js";
import { cpuMs } from "../../../../tools/cpu-ms.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const refusal = (code: ConsentErrorCode, line?: number, column?: number): unknown =>
  expect.objectContaining(line === undefined ? { code } : { code, position: { line, column } });

describe("parseJson() values", () => {
  it.each<[string, unknown]>([
    [
      ' {"a" : [1, -0.5e+2, true, false, null, "x"] }\r\n\t',
      { a: [1, -50, true, false, null, "x"] },
    ],
    ["[]", []],
    ["{}", {}],
    ["-0", -0],
    ["0.1E-7", 1e-8],
    ["1e-400", 0],
    ['""', ""],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00"', '"\\/\b\f\n\r\té😀'],
    ['"a\\\\"', "a\\"],
    [JSON.stringify("long ".repeat(100)), "long ".repeat(100)],
    [JSON.stringify(`${"long ".repeat(100)}"\n`), `${"long ".repeat(100)}"\n`],
    ['"\u007f\u2028\ufeff😀"', "\u007f\u2028\ufeff😀"],
  ])("parseJson() reads %s", (text, value) => {
    expect(parseJson(text)).toEqual(value);
    expect(parseJson(bytes(text))).toEqual(value);
  });

  it("parseJson() makes __proto__ an ordinary key", () => {
    const value = parseJson('{"__proto__":{"polluted":true},"constructor":1}');
    expect(Object.keys(Object(value))).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect("polluted" in {}).toBe(false);
  });

  it("parseJson() gives data that its caller may change", () => {
    const value = parseJson('{"__proto__":1,"a":[1]}');
    expect(Object.isFrozen(value)).toBe(false);
    expect(Object.getOwnPropertyDescriptor(value, "__proto__")).toEqual({
      value: 1,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  });
});

describe("parseJson() refusals", () => {
  it.each<[string, ConsentErrorCode, number, number]>([
    ["", "json_invalid", 1, 1],
    ["  ", "json_invalid", 1, 3],
    ["\ufeff{}", "json_invalid", 1, 1],
    ["{}{}", "json_invalid", 1, 3],
    ['{"a":1}\n{"a":2}', "json_invalid", 2, 1],
    ["[1,\n 2,\n]", "json_invalid", 3, 1],
    ["[1\r\n,\r2 3]", "json_invalid", 3, 3],
    ['{"a" 1}', "json_invalid", 1, 6],
    ["{a:1}", "json_invalid", 1, 2],
    ["{'a':1}", "json_invalid", 1, 2],
    ['{"a":1,}', "json_invalid", 1, 8],
    ['"a', "json_invalid", 1, 3],
    ['"a\\"', "json_invalid", 1, 5],
    ['"\t"', "json_invalid", 1, 1],
    ['"\\x"', "json_invalid", 1, 1],
    ['"\\u00g0"', "json_invalid", 1, 1],
    ["01", "json_invalid", 1, 1],
    ["-01", "json_invalid", 1, 2],
    ["-", "json_invalid", 1, 2],
    ["1.", "json_invalid", 1, 3],
    [".1", "json_invalid", 1, 1],
    ["+1", "json_invalid", 1, 1],
    ["1e", "json_invalid", 1, 3],
    ["1e+", "json_invalid", 1, 4],
    ["0x10", "json_invalid", 1, 2],
    ["NaN", "json_invalid", 1, 1],
    ["True", "json_invalid", 1, 1],
    ["nul", "json_invalid", 1, 1],
    ["[1e400]", "json_invalid", 1, 2],
    ["[-1e400]", "json_invalid", 1, 2],
    ["// x\n1", "json_invalid", 1, 1],
    ["\u00a01", "json_invalid", 1, 1],
    ['["\\ud800"]', "json_lone_surrogate", 1, 2],
    ['["\\udc00\\ud800"]', "json_lone_surrogate", 1, 2],
    ['{"\\uD800":1}', "json_lone_surrogate", 1, 2],
    ['["x\ud800"]', "json_lone_surrogate", 1, 4],
    ['{"a":1,"a":1}', "json_duplicate_key", 1, 8],
    ['{"a":1,\n "\\u0061":2}', "json_duplicate_key", 2, 2],
    ['[{"__proto__":1,"__proto__":2}]', "json_duplicate_key", 1, 17],
    ["[9007199254740992]", "json_unsafe_integer", 1, 2],
    ["-9007199254740992", "json_unsafe_integer", 1, 1],
    ["9007199254740993", "json_unsafe_integer", 1, 1],
    ["100000000000000000000", "json_unsafe_integer", 1, 1],
    ["1".repeat(400), "json_unsafe_integer", 1, 1],
  ])("parseJson() refuses %j as %s", (text, code, line, column) => {
    expect(() => parseJson(text)).toThrow(refusal(code, line, column));
  });

  it.each([
    ["a byte that no UTF-8 has", [0x22, 0xff, 0x22]],
    ["a surrogate in UTF-8", [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ["an overlong form", [0x22, 0xc0, 0xaf, 0x22]],
    ["a byte order mark", [0xef, 0xbb, 0xbf, 0x31]],
  ])("parseJson() refuses bytes with %s", (_, input) => {
    expect(() => parseJson(Uint8Array.from(input))).toThrow(refusal("json_invalid"));
  });

  it.each(["[", '{"a":'])(
    "parseJson() reads %j nested 64 deep and refuses 65 and 1,000,000",
    (open) => {
      const nested = (depth: number): string =>
        open.repeat(depth - 1) +
        (open === "[" ? "[]" : "{}") +
        (open === "[" ? "]" : "}").repeat(depth - 1);
      expect(() => parseJson(nested(JSON_DEPTH_MAX))).not.toThrow();
      expect(() => parseJson(nested(JSON_DEPTH_MAX + 1))).toThrow(refusal("json_too_deep"));
      expect(() => parseJson(nested(1_000_000))).toThrow(refusal("json_too_deep"));
    },
  );

  it("parseJson() counts bytes, not characters, against bytesMax", () => {
    expect(parseJson('"éé"', { bytesMax: 6 })).toBe("éé");
    expect(() => parseJson('"éé"', { bytesMax: 5 })).toThrow(refusal("json_too_large"));
    expect(() => parseJson(bytes('"éé"'), { bytesMax: 5 })).toThrow(refusal("json_too_large"));
    expect(() => parseJson('"aaaa"', { bytesMax: 5 })).toThrow(refusal("json_too_large"));
  });

  it("parseJson() keeps a key's text out of what a terminal could take as a command", () => {
    expect(() => parseJson('{"\\u001b[2J\\u202e":1,"\\u001b[2J\\u202e":2}')).toThrow(
      /the key "\\u001b\[2J\\u202e" appears twice$/,
    );
  });

  it("parseJson() takes time linear in the text, however its quotes and backslashes lie", () => {
    const text = JSON.stringify('\\"'.repeat(500_000));
    const start = cpuMs();
    expect(parseJson(text)).toHaveLength(1_000_000);
    expect(cpuMs() - start).toBeLessThan(2_000);
  });
});

describe("parseJson() integers", () => {
  it.each([
    "9007199254740991",
    "-9007199254740991",
    "1e20",
    "9007199254740993.0",
    "9007199254740992e0",
  ])("parseJson() reads %s by default", (text) => {
    expect(parseJson(text)).toBe(Number(text));
  });

  it.each(["100000000000000000000", "9007199254740992", "-9007199254740992"])(
    'parseJson() reads %s with "canonical": RFC 8785 writes it so',
    (text) => {
      expect(parseJson(text, { integers: "canonical" })).toBe(Number(text));
    },
  );

  it.each(["9007199254740993", "100000000000000000001", "1000000000000000000000"])(
    'parseJson() refuses %s with "canonical" too',
    (text) => {
      expect(() => parseJson(text, { integers: "canonical" })).toThrow(
        refusal("json_unsafe_integer"),
      );
    },
  );
});

describe("scanJson()", () => {
  const line =
    ' {"method":"tools/call", "params" : { "name":"é", "arguments" : {"a":[1, 2]} ,"params":{"name":0}}, "id" : 7 } ';

  it("scanJson() tells where members stand", () => {
    const { value, text, spans } = scanJson(bytes(line), {
      spans: ["id", "method", "params", "params.arguments", "params.name", "params.absent"],
    });
    expect(value).toEqual(JSON.parse(line));
    expect(text).toBe(line);
    const found = Object.entries(spans).map(([path, span]) => [
      path,
      span === undefined ? "" : text.slice(span.start, span.end),
    ]);
    expect(Object.fromEntries(found)).toEqual({
      id: "7",
      method: '"tools/call"',
      params: '{ "name":"é", "arguments" : {"a":[1, 2]} ,"params":{"name":0}}',
      "params.arguments": '{"a":[1, 2]}',
      "params.name": '"é"',
    });
  });

  it("scanJson() looks only into objects on the path", () => {
    expect(scanJson('[{"id":1},{"a":{"id":2}}]', { spans: ["id", "a.id"] }).spans).toEqual({});
    expect(scanJson('{"a":"id","b":{"id":1}}', { spans: ["id", "a.id"] }).spans).toEqual({});
  });

  it("scanJson() refuses what parseJson() refuses", () => {
    expect(() => scanJson('{"params":{"name":1,"name":2}}', { spans: ["params.name"] })).toThrow(
      refusal("json_duplicate_key", 1, 21),
    );
    expect(() => scanJson('{"id":1}', { spans: [], bytesMax: 7 })).toThrow(
      refusal("json_too_large"),
    );
  });
});
