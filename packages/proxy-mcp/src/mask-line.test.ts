import { createMasker, Secret } from "@acp/core/vault";
import { describe, expect, it } from "vitest";
import { maskLine } from "./mask-line.js";

const secrets = Object.freeze([
  new Secret({ name: "TOKEN", value: "hunter2-hunter2" }),
  new Secret({ name: "PIN", value: "1234500000" }),
  new Secret({ name: "LONG", value: "12345678901234567890" }),
  new Secret({ name: "RATIO", value: "0.00012345" }),
  new Secret({ name: "OBJECT", value: '{"a":1,"b":2}' }),
  new Secret({ name: "ESCAPES", value: String.raw`C:\new\table` }),
  new Secret({ name: "LINES", value: "first line\nsecond line\n" }),
  new Secret({ name: "MARGIN", value: "line with its end\n" }),
]);

const mask = (text: string, keepsId = false): string | undefined =>
  maskLine(Buffer.from(`${text}\n`), createMasker(secrets), () => keepsId)?.toString();

describe("maskLine()", () => {
  it.each([
    ["a string", '{"a":"is hunter2-hunter2!"}', '{"a":"is [secret TOKEN]!"}'],
    ["a key", '{"hunter2-hunter2": 1}', '{"[secret TOKEN]": 1}'],
    [
      "an escaped string",
      String.raw`["\u0068unter2\u002dhunter2\n"]`,
      String.raw`["[secret TOKEN]\n"]`,
    ],
    ["base64", `["${Buffer.from("hunter2-hunter2").toString("base64")}"]`, '["[secret TOKEN]"]'],
    [
      "base64url inside JSON inside a string",
      String.raw`["{\"t\":\"aHVudGVyMi1odW50ZXIy\"}"]`,
      String.raw`["{\"t\":\"[secret TOKEN]\"}"]`,
    ],
    [
      "a percent-encoded URL",
      '["https://x/?t=%68unter2%2Dhunter2&u=1"]',
      '["https://x/?t=[secret TOKEN]&u=1"]',
    ],
    ["a bare number", '[ 1234500000 ,1, "x"]', '[ "[secret PIN]" ,1, "x"]'],
    ["a number inside a longer one", "[912345000001]", '["9[secret PIN]1"]'],
    ["a negative number", "[-1234500000]", '["-[secret PIN]"]'],
    ["a number with an exponent", "[1.2345e9]", '["[secret PIN]"]'],
    ["a number with an exponent and a sign", "[12345E+5]", '["[secret PIN]"]'],
    ["a number with a point", '{"n":1234500000.0}', '{"n":"[secret PIN].0"}'],
    ["a number shifted by its exponent", "[1234500000.00e-0]", '["[secret PIN].00e-0"]'],
    ["a number with a long exponent", "[0.00012345e13]", '["[secret RATIO]e13"]'],
    ["a number with a negative exponent", "[12345e-8]", '["[secret RATIO]"]'],
    ["a number that only its parsed value shows", "[1234499999.99999999999]", '["[secret PIN]"]'],
    ["a number that no double holds", "[1.2345678901234567890e19]", '["[secret LONG]"]'],
    ["a small number with an exponent", "[1.2345e-4]", '["[secret RATIO]"]'],
    ["a number as a string", '["1234500000"]', '["[secret PIN]"]'],
    [
      "a value that JSON would escape, escaped",
      JSON.stringify([String.raw`in C:\new\table`]),
      '["in [secret ESCAPES]"]',
    ],
    [
      "a value with escapes of its own, as written",
      String.raw`["in C:\new\table"]`,
      '["in [secret ESCAPES]"]',
    ],
    [
      "a value of several lines",
      JSON.stringify(["a first line\nsecond line\n"]),
      '["a [secret LINES]\\n"]',
    ],
    ["JSON as a text", JSON.stringify({ key: '{"a":1,"b":2}' }), '{"key":"[secret OBJECT]"}'],
  ])("replaces a value that is %s, and keeps every other byte", (_how, line, masked) => {
    expect(mask(line)).toBe(`${masked}\n`);
    JSON.parse(masked);
  });

  it.each([
    ["nothing", '{ "a":[1.50,"\\u0061",12345,1e400,-0, 12345678901234567891 ]}'],
    ["parts of values", '{"a":"hunter2-","hunter2":12345,"b":[{"a":1,"b":3}]}'],
    ["numbers near a value", "[1.2346e9,1234500e2,123450000,1.2345e-5]"],
    ["numbers beyond all writing", "[1e999999999,-1e-999999999,1e-400]"],
    ["no JSON", "hello {"],
  ])("gives back the same line where it holds %s", (_what, text) => {
    const line = Buffer.from(`${text}\n`);
    expect(maskLine(line, createMasker(secrets), () => false)).toBe(line);
  });

  it("keeps the id that the client gave, and no other", () => {
    expect(mask('{"id":1234500000,"result":"x"}', true)).toBe('{"id":1234500000,"result":"x"}\n');
    expect(mask('{"id":"hunter2-hunter2","result":"hunter2-hunter2"}', true)).toBe(
      '{"id":"hunter2-hunter2","result":"[secret TOKEN]"}\n',
    );
    expect(mask('{"id":1234500000,"result":"x"}')).toBe('{"id":"[secret PIN]","result":"x"}\n');
    expect(mask('{"result":{"id":1234500000},"id":1}', true)).toBe(
      '{"result":{"id":"[secret PIN]"},"id":1}\n',
    );
    expect(mask('{"id":1234500000,"id":1}', true)).toBe('{"id":"[secret PIN]","id":1}\n');
  });

  it("masks what is no JSON as bytes, and keeps it one line", () => {
    expect(mask("token: hunter2-hunter2, pin 1234500000")).toBe(
      "token: [secret TOKEN], pin [secret PIN]\n",
    );
    expect(mask('["hunter2-hunter2')).toBe('["[secret TOKEN]\n');
    expect(mask("a line with its end")).toBe("a [secret MARGIN]\n");
  });

  it("gives nothing where a value stands across several strings or numbers", () => {
    expect(mask('{"x":{"a":1,"b":2}}')).toBeUndefined();
    expect(mask('{"x":[{"a":1,"b":2},"hunter2-hunter2"]}')).toBeUndefined();
  });

  it("looks into strings of any length and nesting of any depth", () => {
    const filler = "x".repeat(100_000);
    expect(mask(JSON.stringify([filler, `${filler}hunter2-hunter2${filler}`, filler]))).toBe(
      `${JSON.stringify([filler, `${filler}[secret TOKEN]${filler}`, filler])}\n`,
    );
    const deep = (inner: string): string => `${"[".repeat(20_000)}${inner}${"]".repeat(20_000)}`;
    expect(mask(deep("1234500000"))).toBe(`${deep('"[secret PIN]"')}\n`);
  });
});
