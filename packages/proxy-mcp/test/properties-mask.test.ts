/**
 * Properties of masking a line: what a server says stays the JSON that it was, and no value is left
 * in it, however it is written.
 */
import { createMasker, Secret } from "@acp/core/vault";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maskLine } from "../src/mask-line.js";

/**
 * Values over few letters, digits alone, numbers, and what JSON has to escape. No bracket: a label
 * has some.
 */
const value = fc
  .oneof(
    fc.string({ unit: fc.constantFrom("a", "b"), minLength: 8, maxLength: 12 }),
    fc.string({ unit: fc.constantFrom(...'aZ0/+= "\\%&é\n😀,:'), minLength: 8, maxLength: 16 }),
    fc.bigInt({ min: 10_000_000n, max: 10n ** 24n }).map(String),
    fc
      .tuple(fc.integer({ min: 1, max: 99_999 }), fc.integer({ min: 3, max: 20 }))
      .map(([digits, zeros]) => `${digits}${"0".repeat(zeros)}`),
    fc.integer({ min: 1_000_000, max: 99_999_999 }).map((digits) => `0.${digits}`),
  )
  .filter((text) => Buffer.byteLength(text.trim()) >= 8);

const utf8 = (text: string): Buffer => Buffer.from(text, "utf8");
const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const hex = (text: string): string => utf8(text).toString("hex");

/** Ways of writing a value inside a text. */
const WRITERS: readonly ((text: string) => string)[] = [
  (text) => text,
  json,
  (text) => json(json(text)),
  encodeURIComponent,
  (text) => utf8(text).toString("base64"),
  (text) => utf8(text).toString("base64url"),
  hex,
];

/** A number as JSON may write it: the point anywhere, the rest in the exponent. */
function respelled(text: string, shift: number): string {
  const [whole = "", fraction = ""] = text.split(".");
  const digits = `${whole}${fraction}`.replace(/^0+(?=\d)/, "");
  const at = 1 + (shift % digits.length);
  const tail = digits.slice(at).replace(/0+$/, "");
  const scale = digits.length - fraction.length - at;
  return `${digits.slice(0, at)}${tail === "" ? "" : `.${tail}`}${"eE"[shift % 2]}${scale >= 0 && shift % 3 === 0 ? "+" : ""}${scale}`;
}

const isNumber = (text: string): boolean => /^(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text);

interface Parts {
  readonly values: readonly string[];
  /** A JSON text with values in it, written as JSON. */
  readonly text: string;
}

/**
 * A message over some values: strings, keys and numbers with and without them, odd blanks and
 * escapes.
 */
const message: fc.Arbitrary<Parts> = fc
  .uniqueArray(value, { minLength: 1, maxLength: 3 })
  .chain((values) => fc.record({ values: fc.constant(values), text: jsonOf(values) }));

function jsonOf(values: readonly string[]): fc.Arbitrary<string> {
  const written = fc
    .tuple(
      fc.constantFrom(...values),
      fc.constantFrom(...WRITERS),
      fc.constantFrom("", "x", "é ", "/?k="),
      fc.constantFrom("", "&", " 😀"),
    )
    .map(([each, write, before, after]) => ({
      isHex: write === hex,
      text: `${before}${write(each)}${after}`,
    }));
  const plain = fc
    .string({ unit: fc.constantFrom(...'ab01 \\"\n%u/é'), maxLength: 10 })
    .map((text) => ({ isHex: false, text }));
  // Nobody writes hex digits as escapes, and masking does not look for that.
  const stringText = fc
    .tuple(fc.oneof(written, plain), fc.boolean())
    .map(([{ isHex, text }, isEscaped]) =>
      isEscaped && !isHex ? escaped(text) : JSON.stringify(text),
    );
  const numbers = values.filter(isNumber);
  const numberText = fc.oneof(
    fc.constantFrom("0", "-1", "1.50", "1e400", "12345678901234567891234567", "1e-9"),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
    ...(numbers.length === 0
      ? []
      : [
          fc.constantFrom(...numbers),
          fc.constantFrom(...numbers).map((text) => `-${text}`),
          fc
            .tuple(fc.constantFrom(...numbers), fc.nat({ max: 30 }))
            .map(([text, shift]) => respelled(text, shift)),
        ]),
  );
  return fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      stringText,
      numberText,
      fc.constantFrom("true", "false", "null"),
      fc.array(tie("node"), { maxLength: 4 }).map((items) => `[ ${items.join(" ,")}]`),
      fc
        .array(fc.tuple(stringText, tie("node")), { maxLength: 4 })
        .map((members) => `{${members.map(([key, item]) => `${key}: ${item}`).join(", ")}}`),
    ),
  })).node;
}

function escaped(text: string): string {
  return `"${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"`;
}

/** Every string, key and number that a reader of the text gets. */
function readings(parsed: unknown): readonly string[] {
  if (typeof parsed === "string") return [parsed];
  if (typeof parsed === "number") return [String(parsed)];
  if (typeof parsed !== "object" || parsed === null) return [];
  return Object.entries(parsed).flatMap(([key, item]) => [
    ...(Array.isArray(parsed) ? [] : [key]),
    ...readings(item),
  ]);
}

function mask(
  values: readonly string[],
  text: string,
): { readonly line: Buffer; readonly masked: Buffer | undefined } {
  const secrets = Object.freeze(
    values.map((each, at) => new Secret({ name: `S${at}`, value: each })),
  );
  const line = Buffer.from(`${text}\n`);
  return {
    line,
    masked: maskLine(line, createMasker(secrets), () => false),
  };
}

describe("maskLine() properties", () => {
  it("gives JSON in which no value is left, however it is written", () => {
    fc.assert(
      fc.property(message, ({ values, text }) => {
        const { masked } = mask(values, text);
        // A value that is made of JSON's own signs can stand across several strings: then nothing
        // is passed on.
        if (masked === undefined) return void fc.pre(false);
        const body = masked.toString();
        expect(body.endsWith("\n")).toBe(true);
        expect(body.slice(0, -1)).not.toContain("\n");
        const seen = [body, ...readings(JSON.parse(body))];
        for (const each of values)
          for (const write of WRITERS)
            for (const reading of seen)
              expect(
                reading.includes(write(each.trim())),
                `${JSON.stringify(reading)} shows ${each}`,
              ).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });

  it("gives back the very line where no value is in it", () => {
    fc.assert(
      fc.property(message, ({ text }) => {
        const { line, masked } = mask(
          ["\u{10ffff}\u{10fffe}\u{10fffd}", "918273645546372819"],
          text,
        );
        expect(masked).toBe(line);
      }),
      { numRuns: 500 },
    );
  });

  it("changes only strings and numbers that hold a value", () => {
    const clean = fc.jsonValue().map((node) => JSON.stringify(node));
    fc.assert(
      fc.property(clean, clean, fc.nat({ max: 7 }), (before, after, shift) => {
        const number = "123456780000";
        const around = (text: string): string => `{"a":${before},"b":[${text} , 1.0],"c":${after}}`;
        const { masked } = mask([number], around(respelled(number, shift)));
        expect(masked?.toString()).toBe(`${around('"[secret S0]"')}\n`);
      }),
      { numRuns: 300 },
    );
  });
});
