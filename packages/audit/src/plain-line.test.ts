import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inLane } from "../../../tools/deep.js";
import { makeEvent } from "../test/support.js";
import { decodeEvent, encodeEvent, sha256 } from "./codec.js";
import { lineText } from "./lines.js";
import { type LinePlace, readPlainLine } from "./plain-line.js";

const read = (line: string | Buffer): LinePlace | undefined => {
  const bytes = Buffer.concat([Buffer.from("\n"), Buffer.from(line), Buffer.from("\n")]);
  return readPlainLine(bytes, 1, bytes.length - 1);
};

const slow = (line: string | Buffer): LinePlace | undefined => {
  const text = typeof line === "string" ? line : lineText(line);
  const decoded = text === undefined ? undefined : decodeEvent(text);
  if (decoded?.ok !== true) return undefined;
  const { seq, hash, previousHash } = decoded.event;
  return { seq, hex: hash.slice(7), previousHex: previousHash?.slice(7) ?? "" };
};

const HEAD = { seq: 41, hash: `sha256:${"0b".repeat(32)}` };
const FIELD = /,"event_hash":"sha256:[0-9a-f]{64}"/;

/** The line with the hash that its bytes have, so that only its form can be wrong. */
function resealed(line: string): string {
  const field = FIELD.exec(line);
  if (field === null) return line;
  const rest = line.replace(field[0], "");
  return `${line.slice(0, field.index)},"event_hash":"${sha256(rest)}"${line.slice(field.index + field[0].length)}`;
}

const metadata = fc.dictionary(
  fc.oneof(
    fc.constantFrom("a", "reason", "rulings", "s", "se", "seqs", "mono", "z"),
    fc.string({ maxLength: 4 }),
  ),
  fc.oneof(
    fc.jsonValue({ maxDepth: 4 }),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: "binary" }),
  ),
);

describe("readPlainLine()", () => {
  it("finds the same place as decodeEvent in every line that it takes, and takes the ordinary ones", () => {
    const plain = encodeEvent(
      makeEvent(1, {
        metadata: { rulings: [{ layer: "rules", effect: "allow" }], ratio: 0.5, none: null },
      }),
      HEAD,
      { monoMs: 12 },
    );
    expect(read(plain.line)).toEqual({
      seq: 42,
      hex: plain.head.hash.slice(7),
      previousHex: HEAD.hash.slice(7),
    });
    expect(read(encodeEvent(makeEvent(1), undefined).line)).toMatchObject({
      seq: 0,
      previousHex: "",
    });
    fc.assert(
      fc.property(metadata, fc.string(), fc.nat(), (extra, tool, monoMs) => {
        const { seq: _, mono_ms: __, ...rest } = extra;
        let line: string;
        try {
          ({ line } = encodeEvent(
            makeEvent(1, { tool, metadata: rest as Record<string, never> }),
            HEAD,
            { monoMs },
          ));
        } catch {
          return;
        }
        const place = read(line);
        if (place !== undefined) expect(place).toEqual(slow(line));
      }),
      { numRuns: 500 },
    );
  });

  it("takes no line that decodeEvent refuses, whatever bytes are put into it", () => {
    const { line } = encodeEvent(
      makeEvent(1, {
        metadata: { a: "x\n", b: [1, -2, 0.5, true, false, null, {}], c: { d: "e", f: {} }, z: 10 },
      }),
      HEAD,
      { monoMs: 7 },
    );
    const signs = [
      '"',
      "\\",
      ",",
      ":",
      "{",
      "}",
      "[",
      "]",
      "0",
      "1",
      "-",
      ".",
      "e",
      "E",
      "+",
      " ",
      "\t",
      "n",
      "u",
      "\u00e9",
    ];
    const words = [
      "\\n",
      "\\u000a",
      "\\/",
      "null",
      "-0",
      "1.0",
      "1e5",
      "2026-02-29",
      "sha256:",
      "00",
      "01",
      "\u007f",
    ];
    const members = ['"a":1,', ',"seq":1', '"seq":2,', ',"zz":[]', '"mono_ms":-1,'];
    const piece = fc.constantFrom(...signs, ...words, ...members);
    const edit = fc.record({
      at: fc.nat(line.length),
      cut: fc.nat(8),
      put: fc.array(piece, { maxLength: 2 }),
    });
    let taken = 0;
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        let changed = line;
        for (const { at, cut, put } of edits)
          changed = changed.slice(0, at) + put.join("") + changed.slice(at + cut);
        const sealed = resealed(changed);
        const place = read(sealed);
        if (place === undefined) return;
        taken += 1;
        expect(place).toEqual(slow(sealed));
      }),
      { numRuns: Number(process.env["ACP_RUNS"] ?? "20000") },
    );
    expect(taken).toBeGreaterThan(inLane(100));
  });

  it.each([
    ["a February that is too long", '"timestamp":"2026-01-15', '"timestamp":"2026-02-30'],
    ["a month that is none", '"timestamp":"2026-01-15', '"timestamp":"2026-13-15'],
    ["an hour that is none", "T10:30", "T24:30"],
    ["negative zero", '"response_time_ms":0', '"response_time_ms":-0'],
    ["a negative time", '"response_time_ms":0', '"response_time_ms":-1'],
    ["an empty id", '"id":"ae_1"', '"id":""'],
    ["an empty type", '"event_type":"policy_evaluated"', '"event_type":""'],
    ["another version", '"version":"0.2.0"', '"version":"0.2.1"'],
    ["keys out of order", '"b":1,"c":2', '"c":2,"b":1'],
    ["a key twice", '"b":1,"c":2', '"b":1,"b":2'],
    ["a key that is the start of the one before", '"b":1,"c":2', '"bb":1,"b":2'],
    ["a sequence number with a fraction", '"seq":42', '"seq":42.5'],
    ["no sequence number", ',"seq":42', ""],
    ["a leading zero", '"b":1', '"b":01'],
    ["a fraction that ends in zero", '"b":1', '"b":1.50'],
    ["an escape that is not needed", '"tool":"write_file"', '"tool":"write\\u005ffile"'],
    ["a control character", '"tool":"write_file"', '"tool":"write\u0001file"'],
    ["a lone surrogate", '"tool":"write_file"', '"tool":"\\ud800"'],
    ["something after the end", '"version":"0.2.0"}', '"version":"0.2.0"} '],
  ])("refuses %s, as decodeEvent does", (_, from, to) => {
    const { line } = encodeEvent(makeEvent(1, { metadata: { b: 1, c: 2 } }), HEAD);
    expect(read(line)).toBeDefined();
    const changed = resealed(line.replace(from, to));
    expect(changed).not.toBe(line);
    expect(slow(changed)).toBeUndefined();
    expect(read(changed)).toBeUndefined();
  });

  it("refuses another hash, and bytes beyond the line", () => {
    const { line } = encodeEvent(makeEvent(1), HEAD);
    expect(
      read(line.replace(/sha256:./, (found) => (found.endsWith("0") ? "sha256:1" : "sha256:0"))),
    ).toBeUndefined();
    const bytes = Buffer.from(`${line}\n`);
    expect(readPlainLine(bytes, 0, line.length - 1)).toBeUndefined();
  });
});
