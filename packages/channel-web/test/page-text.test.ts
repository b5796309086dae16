/**
 * What the page does with texts: escapes as core does, lays out JSON that reads back, compares
 * lines.
 */
import {
  type JsonObject,
  escapeText as coreEscape,
  quoteText as coreQuote,
  showScope,
} from "@acp/core";
import { hidingCharactersIn } from "@acp/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffLines } from "../page/diff.js";
import { escapeText, quoteText } from "../page/escape.js";
import { isSame, layOut, linesOf, readArguments } from "../page/json-text.js";
import { previewOf, showLeft, showOffer, showRefusal, showSpan } from "../page/words.js";

const anyText = fc.string({ unit: "binary", maxLength: 60 });
const anyArguments = fc
  .dictionary(fc.string({ unit: "grapheme", maxLength: 12 }), fc.jsonValue({ maxDepth: 3 }), {
    maxKeys: 6,
  })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);

describe("escape.js", () => {
  it("writes every text as core does", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(escapeText(text)).toBe(coreEscape(text));
        expect(quoteText(text)).toBe(coreQuote(text));
      }),
    );
    for (let unit = 0; unit < 0x1_0000; unit++) {
      const text = `a${String.fromCharCode(unit)}b`;
      if (escapeText(text) !== coreEscape(text))
        expect.unreachable(`U+${unit.toString(16)} is written in another way`);
    }
  });
});

describe("json-text.js", () => {
  it("lays out arguments so that nothing hides, and reads them back as they were", () => {
    fc.assert(
      fc.property(anyArguments, (value) => {
        const text = layOut(value);
        expect(text.split("\n").flatMap((line) => hidingCharactersIn(line))).toEqual([]);
        expect(JSON.parse(text)).toEqual(value);
      }),
    );
  });

  it("goes on in the next line after each line break of a string, and leaves nothing out", () => {
    expect(linesOf({ content: "a\nb\n" })).toEqual(["{", '  "content": "a\\n', '    b\\n"', "}"]);
    expect(linesOf({ path: "C:\\new" })).toEqual(["{", '  "path": "C:\\\\new"', "}"]);
    fc.assert(
      fc.property(anyArguments, (value) => {
        const bare = (lines: readonly string[]): string => lines.join("").replaceAll(" ", "");
        expect(bare(linesOf(value))).toBe(bare(layOut(value).split("\n")));
      }),
    );
  });

  it.each([
    ["", /not JSON/],
    ['{\n  "a": 1,\n}', /not JSON/],
    ["[]", /one JSON object/],
    ["null", /one JSON object/],
    ['"text"', /one JSON object/],
    ['{ "n": 9007199254740993 }', /n: a number/],
    ['{ "a": { "n": 1e999 } }', /a\.n: a number/],
    ['{ "t": "\\ud800" }', /t: half a character/],
    [`{ "t": "${"x".repeat(1024 * 1024)}" }`, /more than an answer/],
  ])("readArguments() says what is wrong with %.40j", (text, problem) => {
    expect(readArguments(text).value).toBeUndefined();
    expect(readArguments(text).problem).toMatch(problem);
  });

  it("readArguments() takes an object, and isSame() looks past the order of keys only", () => {
    const { value } = readArguments('{ "b": [1, 2], "a": { "d": null, "c": "x" } }');
    expect(value).toEqual({ b: [1, 2], a: { d: null, c: "x" } });
    expect(isSame({ a: { c: 1, d: 2 }, b: 3 }, { b: 3, a: { d: 2, c: 1 } })).toBe(true);
    expect(isSame({ b: [1, 2] }, { b: [2, 1] })).toBe(false);
    expect(isSame({}, { a: null })).toBe(false);
  });
});

describe("diff.js", () => {
  const anyLines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 });

  it("gives back both sides, whatever they are", () => {
    fc.assert(
      fc.property(anyLines, anyLines, (before, after) => {
        const lines = diffLines(before, after);
        expect(lines.filter(({ sign }) => sign !== "+").map(({ text }) => text)).toEqual(before);
        expect(lines.filter(({ sign }) => sign !== "-").map(({ text }) => text)).toEqual(after);
      }),
    );
  });

  it("marks only what changes", () => {
    const lines = diffLines(["a", "b", "c", "d"], ["a", "x", "c", "d", "e"]);
    expect(lines.map(({ sign, text }) => sign + text)).toEqual([
      " a",
      "-b",
      "+x",
      " c",
      " d",
      "+e",
    ]);
  });

  it("answers in bounded time where nearly everything differs", () => {
    const [before, after] = ["a", "b"].map((side) =>
      Array.from({ length: 5_000 }, (_, at) => `${side}${at}`),
    );
    expect(diffLines(before ?? [], after ?? [])).toHaveLength(10_000);
  });
});

describe("words.js", () => {
  it.each([
    [-5, "0:00"],
    [400, "0:01"],
    [61_000, "1:01"],
    [3_600_000 * 3 + 60_000 * 5, "3 h 5 min"],
    [3_600_000 * 52, "2 d 4 h"],
  ])("showLeft(%i) is %s", (ms, text) => {
    expect(showLeft(ms)).toBe(text);
  });

  it("showSpan() is in the largest unit that is whole", () => {
    expect([90_000, 600_000, 7_200_000].map(showSpan)).toEqual(["90 s", "10 min", "2 h"]);
  });

  it("showOffer() says what an offer covers, escaped, and sends the reader to the text where it does not know", () => {
    const tool = {
      id: "t",
      scope: { kind: "tool", server: "files", name: "write\u202efile" },
      ttl_ms: 600_000,
      uses: 3,
    } as const;
    expect(showOffer(tool)).toBe(
      'every call of "write\\u202efile" on files, for 10 min, at most 3 times',
    );
    const args = {
      kind: "arguments",
      server: "files",
      name: "write",
      args: { path: { path: "/tmp/**" }, mode: "a*", n: 1 },
    } as const;
    expect(showOffer({ id: "a", scope: args, ttl_ms: 60_000 })).toBe(
      'every call of write on files where path is a path like "/tmp/**" and mode is like "a*" and n is 1, for 1 min',
    );
    const host = {
      kind: "host",
      host: "example.com",
      port: 443,
      methods: ["*"],
      twin: "www.example.com",
    } as const;
    expect(showOffer({ id: "h", scope: host, ttl_ms: 60_000 })).toContain(
      "example.com or www.example.com port 443",
    );
    const scopes = [[], ["GET", "HEAD"], ["CONNECT"], ["POST"], ["*"]].map((methods) => ({
      ...host,
      methods,
    }));
    for (const scope of scopes)
      expect(showOffer({ id: "h", scope, ttl_ms: 60_000 })).toBe(`${showScope(scope)}, for 1 min`);
    const unknown = { kind: "galaxy" } as unknown as typeof host;
    expect(showOffer({ id: "u", scope: unknown, ttl_ms: 60_000 })).toContain("read the text");
  });

  it("previewOf() is one line in which nothing hides", () => {
    const action = { parameters: { a: "x\u202ey\nz", b: [1] } } as never;
    expect(previewOf({ action } as never)).toBe("x\\u202ey z · [1]");
  });

  it("showRefusal() never says that something was done", () => {
    expect(showRefusal("some_new_code", "because\u202e")).toBe(
      "Not accepted: because\\u202e. The question is as it was.",
    );
    expect(showRefusal("unreachable", "")).toMatch(/not known/);
  });
});
