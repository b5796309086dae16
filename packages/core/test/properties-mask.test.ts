/**
 * Properties of masking: whatever the values, the way of writing, the neighbourhood and the chunks,
 * no value comes out.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMasker, Secret } from "../src/vault.js";

const utf8 = (text: string): Buffer => Buffer.from(text, "utf8");

/**
 * Values over few letters, so that they overlap themselves and each other; and over all of Unicode.
 * No bracket: a label has some.
 */
const value = fc
  .oneof(
    fc.string({ unit: fc.constantFrom("a", "b"), minLength: 8, maxLength: 14 }),
    fc.string({ unit: fc.constantFrom(...'aZ0/+= "\\%&é\n😀'), minLength: 8, maxLength: 20 }),
    fc.string({ unit: "binary", minLength: 4, maxLength: 12 }),
  )
  .filter((text) => utf8(text).length >= 8 && text.isWellFormed() && !/[[\]]/.test(text));

const values = fc.uniqueArray(value, { minLength: 1, maxLength: 4 });

type Write = (text: string, choice: number) => string;

const unicodeEscape = (text: string): string =>
  Array.from(
    { length: text.length },
    (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
const json: Write = (text) => JSON.stringify(text).slice(1, -1);
/** Some characters escaped, some not: no two writers agree. */
const mixedJson: Write = (text, choice) =>
  Array.from(text, (char, at) =>
    ((choice >> (at % 24)) & 1) === 1 ? unicodeEscape(char) : json(char, 0),
  ).join("");
const mixedPercent: Write = (text, choice) =>
  Array.from(utf8(text), (byte, at) => {
    const char = String.fromCharCode(byte);
    const hex = byte.toString(16).padStart(2, "0");
    return /[A-Za-z0-9]/.test(char) && ((choice >> (at % 24)) & 1) === 1
      ? char
      : `%${(choice & 1) === 1 ? hex.toUpperCase() : hex}`;
  }).join("");

const WRITERS: readonly Write[] = [
  (text) => text,
  json,
  mixedJson,
  (text, choice) => json(mixedJson(text, choice), 0),
  mixedPercent,
  (text) => new URLSearchParams([["a", text]]).toString().slice(2),
  (text) => utf8(text).toString("base64"),
  (text) => utf8(text).toString("base64url"),
  (text) => json(utf8(text).toString("base64"), 0).replaceAll("/", "\\/"),
  (text) => utf8(text).toString("hex"),
  (text) => utf8(text).toString("hex").toUpperCase(),
];

function run(secrets: readonly Secret[], bytes: Uint8Array, cuts: readonly number[]): Buffer {
  const masker = createMasker(secrets);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted(
    (left, right) => left - right,
  );
  const parts = ends.map((end, index) => masker.push(bytes.subarray(ends[index - 1] ?? 0, end)));
  return Buffer.concat([...parts, masker.end()]);
}

const secretsOf = (list: readonly string[]): readonly Secret[] =>
  list.map((each, at) => new Secret({ name: `S${at}`, value: each }));
const cuts = fc.array(fc.nat(), { maxLength: 12 });

describe("createMasker() properties", () => {
  it("never lets a value out, however it is written, whatever stands beside it and wherever chunks end", () => {
    const piece = fc.record({
      which: fc.nat(),
      writer: fc.nat(),
      choice: fc.nat(),
      before: fc.string({ maxLength: 4 }),
    });
    fc.assert(
      fc.property(
        values,
        fc.array(piece, { minLength: 1, maxLength: 4 }),
        cuts,
        (list, pieces, ends) => {
          const secrets = secretsOf(list);
          for (const { which, writer, choice, before } of pieces) {
            const write = WRITERS[writer % WRITERS.length] ?? json;
            const written = write(list[which % list.length] ?? "", choice);
            // What stands before must not be the half of an escape, or what follows is not that
            // value.
            const text = `${before.replaceAll(/[\\%]/g, "")}(${written})`;
            const masked = run(secrets, utf8(text), ends).toString("utf8");
            expect(masked).toContain("[secret S");
            expect(masked).not.toContain(written);
          }
        },
      ),
    );
  });

  it("leaves no value in base64, wherever it begins within a group", () => {
    fc.assert(
      fc.property(
        value,
        fc.uint8Array({ maxLength: 6 }),
        fc.uint8Array({ maxLength: 6 }),
        cuts,
        (text, before, after, ends) => {
          for (const encoding of ["base64", "base64url"] as const) {
            const encoded = Buffer.concat([before, utf8(text), after]).toString(encoding);
            const masked = run(secretsOf([text]), utf8(encoded), ends).toString();
            expect(masked).toContain("[secret S0]");
            for (const part of masked.split("[secret S0]"))
              expect(Buffer.from(part, encoding).includes(utf8(text))).toBe(false);
          }
        },
      ),
    );
  });

  it("gives the same bytes for all chunks", () => {
    const soup = fc.array(
      fc.constantFrom(..."ab\\u0061%62+/= 6162".split(""), "\\u0061", "%61", "YWI", "6161"),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(values, soup, cuts, (list, parts, ends) => {
        const secrets = secretsOf(list);
        const bytes = utf8(parts.join(""));
        expect(run(secrets, bytes, ends).equals(run(secrets, bytes, []))).toBe(true);
      }),
    );
  });

  it("changes nothing where no value is", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), cuts, (bytes, ends) => {
        const secrets = [new Secret({ name: "A", value: "\u{10ffff}\u{10fffe}\u{10fffd}" })];
        expect(run(secrets, bytes, ends).equals(bytes)).toBe(true);
      }),
    );
  });
});
