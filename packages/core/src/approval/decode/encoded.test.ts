import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  describeLong,
  readBase64,
  readBroken,
  readDataUrl,
  readJson,
  readLines,
  readPercent,
} from "./encoded.js";

const base64 = (bytes: string | Uint8Array): string => Buffer.from(bytes).toString("base64");
const digest = (bytes: Uint8Array): string =>
  `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const bytes = Uint8Array.from({ length: 60 }, (_, at) => (at * 151 + 128) % 256);

describe("readBase64()", () => {
  it.each([
    [base64("rm -rf / --no-preserve-root"), 'if it is base64: "rm -rf / --no-preserve-root"'],
    [
      base64("grüße und küsse").replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""),
      'if it is base64: "grüße und küsse"',
    ],
    [base64(Buffer.from("Remove-Item", "utf16le")), 'if it is base64 in UTF-16: "Remove-Item"'],
    [base64("a\u202eb hidden"), 'if it is base64: "a\\u202eb hidden"'],
    [base64(bytes), `if it is base64, not text: 60 bytes, ${digest(bytes)}`],
  ])("reads %s", (text, line) => {
    expect(readBase64(text).map((reading) => reading.line)).toEqual([line]);
  });

  it.each([
    "hello",
    "internationalization",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "a".repeat(64),
    "not base64 at all!",
    base64(bytes.slice(0, 30)),
  ])("takes %s for a word", (text) => {
    expect(readBase64(text)).toEqual([]);
  });

  it("reads no text whose unused bits are set: other readers disagree about it", () => {
    expect(readBase64("aGVsbG8gd29ybGQhISF=")).toEqual([]);
  });
});

describe("readDataUrl()", () => {
  const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13);
  it.each([
    ["data:,a%20b", 'data URL, type text/plain: "a b"'],
    ["data:text/html;base64,PGI+aGk8L2I+", 'data URL, type "text/html": "<b>hi</b>"'],
    [
      "DATA:text/html;charset=utf-8;BASE64,PGI%2BaGk8L2I%2B",
      'data URL, type "text/html;charset=utf-8": "<b>hi</b>"',
    ],
    [
      `data:image/png;base64,${base64(png)}`,
      `data URL, type "image/png", not text: 8 bytes, ${digest(png)}`,
    ],
    ["data:text/plain;base64,***", 'data URL, type "text/plain", not decoded: malformed'],
    ["data:text/plain,100%", 'data URL, type "text/plain", not decoded: malformed'],
  ])("reads %s", (text, line) => {
    expect(readDataUrl(text).map((reading) => reading.line)).toEqual([line]);
  });

  it("leaves other texts", () => {
    expect(readDataUrl("data: nothing")).toEqual([]);
  });
});

describe("readPercent()", () => {
  it.each([
    ["a%20b%C3%BC", 'if it is percent-encoded: "a bü"'],
    ["%00%ff", `if it is percent-encoded, not text: 2 bytes, ${digest(Uint8Array.of(0, 255))}`],
  ])("reads %s", (text, line) => {
    expect(readPercent(text).map((reading) => reading.line)).toEqual([line]);
  });

  it.each(["100%", "50%20 and 3%", "plain", "https://a.b/%20"])("leaves %s", (text) => {
    expect(readPercent(text)).toEqual([]);
  });
});

describe("readJson()", () => {
  it("hands out the value", () => {
    expect(readJson(' {"a":[1]}')).toEqual([{ line: "JSON:", value: { a: [1] } }]);
  });

  it.each(["[note] call Ada", "{curly}", '"text"', "12"])("leaves %s", (text) => {
    expect(readJson(text)).toEqual([]);
  });

  it.each(['{"a":1,"a":2}', '["\\ud800"]', "[12345678901234567890]"])(
    "says that it cannot read %s for certain",
    (text) => {
      expect(readJson(text).map(({ line }) => line)).toEqual([
        expect.stringMatching(/^JSON, not decoded: /),
      ]);
    },
  );
});

describe("readLines()", () => {
  it("shows one line below the other, whichever way they end", () => {
    expect(readLines("a\r\nb\rc\n").map(({ line }) => line)).toEqual([
      "4 lines:",
      '  "a"',
      '  "b"',
      '  "c"',
      '  ""',
    ]);
    expect(readLines("a")).toEqual([]);
  });
});

describe("readBroken()", () => {
  it("names an unpaired surrogate", () => {
    expect(readBroken("ab\ud800c").map(({ line }) => line)).toEqual([
      "not Unicode text: an unpaired surrogate at character 3, 8 bytes of UTF-16",
    ]);
    expect(readBroken("🙂")).toEqual([]);
  });
});

describe("describeLong()", () => {
  it("says how long, and the digest of its bytes", () => {
    expect(describeLong("ü".repeat(1_000))).toBe(
      `not decoded: 1,000 characters, in UTF-8 2,000 bytes, ${digest(Buffer.from("ü".repeat(1_000)))}`,
    );
  });
});
