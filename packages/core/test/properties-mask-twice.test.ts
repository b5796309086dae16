/**
 * Masking of values that were written twice: whatever two encodings lie over each other, and
 * wherever chunks end, the value does not come out.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { createMasker, maskSecrets, Secret } from "../src/vault.js";

const RUNS = { numRuns: Number(process.env["ACP_RUNS"] ?? 400) };
type Encode = (bytes: Buffer) => Buffer;

const ascii = (text: string): Buffer => Buffer.from(text, "latin1");
const utf16 = (bytes: Buffer): Buffer => Buffer.from(bytes.toString("utf8"), "utf16le");
const each = (bytes: Buffer, write: (byte: number) => string): Buffer =>
  ascii(Array.from(bytes, write).join(""));
const hex = (byte: number, digits: number): string => byte.toString(16).padStart(digits, "0");

const ENCODINGS: Readonly<Record<string, Encode>> = {
  json: (bytes) => Buffer.from(JSON.stringify(bytes.toString("utf8")).slice(1, -1)),
  units: (bytes) => each(bytes, (byte) => `\\u${hex(byte, 4)}`),
  percent: (bytes) => each(bytes, (byte) => `%${hex(byte, 2)}`),
  uri: (bytes) => ascii(encodeURIComponent(bytes.toString("utf8"))),
  html: (bytes) =>
    ascii(
      bytes
        .toString("latin1")
        .replaceAll("&", "&amp;")
        .replaceAll("<", "&lt;")
        .replaceAll('"', "&quot;"),
    ),
  decimal: (bytes) => each(bytes, (byte) => `&#${byte};`),
  hexadecimal: (bytes) => each(bytes, (byte) => `&#x${byte.toString(16)};`),
  base64: (bytes) => ascii(bytes.toString("base64")),
  base64url: (bytes) => ascii(bytes.toString("base64url")),
  hex: (bytes) => ascii(bytes.toString("hex")),
  HEX: (bytes) => ascii(bytes.toString("hex").toUpperCase()),
  utf16le: utf16,
  utf16be: (bytes) => utf16(bytes).swap16(),
};
const value = fc
  .string({ unit: fc.constantFrom(...'abcXYZ019+/=&<"\\% -_'), minLength: 8, maxLength: 24 })
  .filter((text) => text.trim() === text);
const names = fc.constantFrom(...Object.keys(ENCODINGS));
const padding = fc.string({ unit: fc.constantFrom(..."ab Z.,(\n"), maxLength: 6 });

it("createMasker() and maskSecrets() find a value under any two encodings", () => {
  fc.assert(
    fc.property(
      value,
      names,
      names,
      fc.tuple(padding, padding),
      fc.array(fc.nat(), { maxLength: 6 }),
      (text, first, second, [before, after], cuts) => {
        const plain: Encode = (bytes) => bytes;
        const written = (ENCODINGS[second] ?? plain)(
          (ENCODINGS[first] ?? plain)(Buffer.from(text)),
        );
        const bytes = Buffer.concat([ascii(`${before}(`), written, ascii(`)${after}`)]);
        const secrets = Object.freeze([new Secret({ name: "S", value: text })]);
        const masker = createMasker(secrets);
        const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted(
          (left, right) => left - right,
        );
        const streamed = Buffer.concat([
          ...ends.map((end, at) => masker.push(bytes.subarray(ends[at - 1] ?? 0, end))),
          masker.end(),
        ]);
        expect([
          first,
          second,
          streamed.includes("[secret S]"),
          streamed.includes(written),
        ]).toEqual([first, second, true, false]);
        expect(Buffer.from(maskSecrets(bytes, secrets)).equals(streamed)).toBe(true);
      },
    ),
    RUNS,
  );
});

it("createMasker() finds a value in base64 or hex that was wrapped, also in JSON and with carriage returns", () => {
  fc.assert(
    fc.property(
      value,
      fc.constantFrom("base64", "hex"),
      fc.integer({ min: 4, max: 20 }),
      fc.constantFrom("\n", "\r\n"),
      fc.boolean(),
      (text, encoding, width, end, isJson) => {
        const wrapped = Buffer.from(text)
          .toString(encoding === "hex" ? "hex" : "base64")
          .replaceAll(new RegExp(`.{${width}}`, "g"), (line) => line + end);
        const masker = createMasker([new Secret({ name: "S", value: text })]);
        const bytes = Buffer.from(isJson ? JSON.stringify(wrapped) : wrapped);
        expect(Buffer.concat([masker.push(bytes), masker.end()]).includes("[secret S]")).toBe(true);
      },
    ),
    RUNS,
  );
});
