import { describe, expect, it } from "vitest";
import { createMasker } from "./masker.js";
import { Secret } from "./secret.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const make = (name: string, value: string): Secret => new Secret({ name, value });

function mask(
  secrets: readonly Secret[],
  text: string | Uint8Array,
  chunkBytes = 1_000_000,
): string {
  const bytes = typeof text === "string" ? encoder.encode(text) : text;
  const masker = createMasker(secrets);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes)
    parts.push(masker.push(bytes.subarray(at, at + chunkBytes)));
  parts.push(masker.end());
  return decoder.decode(Buffer.concat(parts));
}

const value = 'p@ss "wörd"/\\+é😀\n\t=';
const token = make("T", value);
const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const allUnicode = (text: string, upper = false): string =>
  Array.from({ length: text.length }, (_, at) => {
    const hex = text.charCodeAt(at).toString(16).padStart(4, "0");
    return `\\u${upper ? hex.toUpperCase() : hex}`;
  }).join("");
const percent = (text: string): string =>
  encoder.encode(text).reduce((all, byte) => `${all}%${byte.toString(16).padStart(2, "0")}`, "");
const base64 = (text: string, encoding: "base64" | "base64url" = "base64"): string =>
  Buffer.from(text).toString(encoding);

const WRITTEN: readonly (readonly [string, string])[] = [
  ["as it is", value],
  ["in JSON", json(value)],
  ["in JSON with escaped slashes", json(value).replaceAll("/", "\\/")],
  ["in JSON, ASCII only", json(value).replaceAll(/[^\u0000-\u007f]/g, (char) => allUnicode(char))],
  ["in JSON, every character escaped", allUnicode(value)],
  ["in JSON, every character escaped in upper case", allUnicode(value, true)],
  ["in JSON inside JSON", json(json(value))],
  ["in JSON inside JSON inside JSON", json(json(json(value)))],
  ["percent-encoded", encodeURIComponent(value)],
  [
    "percent-encoded in lower case",
    encodeURIComponent(value).replaceAll(/%[0-9A-F]{2}/g, (each) => each.toLowerCase()),
  ],
  ["percent-encoded throughout", percent(value)],
  ["as a form", new URLSearchParams([["a", value]]).toString().slice(2)],
  ["as a form in JSON", json(new URLSearchParams([["a", value]]).toString().slice(2))],
  ["percent-encoded JSON", encodeURIComponent(json(value))],
  ["in base64", base64(value)],
  ["in base64 without padding", base64(value).replaceAll("=", "")],
  ["in base64url", base64(value, "base64url")],
  ["in base64 in JSON", base64(value).replaceAll("/", "\\/")],
  ["in base64, percent-encoded", encodeURIComponent(base64(value))],
  ["in hex", Buffer.from(value).toString("hex")],
  ["in upper-case hex", Buffer.from(value).toString("hex").toUpperCase()],
];

describe("createMasker()", () => {
  describe.each(WRITTEN)("a value written %s", (_name, written) => {
    it.each([1, 2, 3, 7, 64, 1_000_000])("is masked in chunks of %i bytes", (chunkBytes) => {
      expect(mask([token], `<a>${written}</a>`, chunkBytes)).toBe("<a>[secret T]</a>");
      expect(mask([token], written, chunkBytes)).toBe("[secret T]");
    });
  });

  it("masks a value also where the blanks and line feeds around it are cut off", () => {
    const padded = make("P", "  top secret\r\n");
    expect(mask([padded], "a top secret b")).toBe("a [secret P] b");
    expect(mask([padded], "top\nsecret")).toBe("top\nsecret");
    // With fewer than eight bytes left, the whole value is looked for.
    expect(mask([make("S", "   ab   ")], "ab    ab   ")).toBe("ab [secret S]");
  });

  it("masks a value at each of the three places of base64", () => {
    for (const offset of [0, 1, 2, 3, 4, 5]) {
      for (const encoding of ["base64", "base64url"] as const) {
        const around = Buffer.from(`${"x".repeat(offset)}${value}yyyy`).toString(encoding);
        const masked = mask([token], around);
        expect(masked).toContain("[secret T]");
        expect(Buffer.from(masked.replace("[secret T]", ""), "base64").length).toBeLessThan(
          offset + 8,
        );
      }
    }
  });

  it("leaves every other byte as it is, and what only looks like a value", () => {
    const bytes = Uint8Array.from({ length: 10_000 }, (_, at) => (at * 7_919) & 0xff);
    const masker = createMasker([token]);
    expect(Buffer.concat([masker.push(bytes), masker.end()]).equals(bytes)).toBe(true);
    const near = `${value.slice(0, -1)}! \\u00 %4 ${base64(value).slice(0, 8)}`;
    expect(mask([token], near, 1)).toBe(near);
  });

  it("names the longest of several that overlap, and leaves no part of any", () => {
    const secrets = [
      make("SHORT", "abcdefgh"),
      make("LONG", "abcdefghijkl"),
      make("TAIL", "ijklmnopqr"),
    ];
    for (const chunkBytes of [1, 3, 100]) {
      expect(mask(secrets, "-abcdefghijkl-", chunkBytes)).toBe("-[secret LONG]-");
      expect(mask(secrets, "-abcdefgh-", chunkBytes)).toBe("-[secret SHORT]-");
      expect(mask(secrets, "-abcdefghijklmnopqr-", chunkBytes)).toBe("-[secret LONG]-");
      expect(mask(secrets, "-abcdefghabcdefgh-", chunkBytes)).toBe(
        "-[secret SHORT][secret SHORT]-",
      );
    }
    expect(mask([make("A", "aaaaaaaa")], "a".repeat(100_000), 10)).toBe("[secret A]");
  });

  it("hands bytes on as soon as no value can begin in them", () => {
    const masker = createMasker([make("A", "abcdefgh")]);
    expect(decoder.decode(masker.push(encoder.encode("hello ab")))).toBe("hello ");
    expect(decoder.decode(masker.push(encoder.encode("c\\")))).toBe("");
    expect(decoder.decode(masker.push(encoder.encode("z")))).toBe("abc\\z");
    expect(masker.end()).toHaveLength(0);
  });

  it("settles at the end of a line, and masks what is left of a value that goes on after all", () => {
    const masker = createMasker([make("A", "abcdefgh"), make("LINES", "first\nsecond\nthird")]);
    const settled = (text: string): string =>
      decoder.decode(Buffer.concat([masker.push(encoder.encode(text)), masker.settle()]));
    expect(settled("hello a\n")).toBe("hello a\n");
    expect(settled("abcdefgh\n")).toBe("[secret A]\n");
    expect(settled("x abc\n")).toBe("x abc\n");
    expect(settled("defgh\n")).toBe("[secret A]\n");
    expect(settled("x abc")).toBe("x ");
    expect(settled("defgh\n")).toBe("[secret A]\n");
    expect(settled("a first\nsec")).toBe("a ");
    expect(settled("ond\n")).toBe("");
    expect(settled("third\n")).toBe("[secret LINES]\n");
    expect(settled("first\n")).toBe("");
    expect(settled("else\n")).toBe("first\nelse\n");
    expect(settled("%6")).toBe("");
    expect(settled("1bcdefgh\n")).toBe("[secret A]\n");
  });

  it("takes another stream after the end of one, without joining them", () => {
    const masker = createMasker([make("A", "abcdefgh")]);
    masker.push(encoder.encode("abcd"));
    expect(decoder.decode(masker.end())).toBe("abcd");
    const second = [masker.push(encoder.encode("efgh\\u00")), masker.end()];
    expect(decoder.decode(Buffer.concat(second))).toBe("efgh\\u00");
    expect(decoder.decode(masker.push(encoder.encode("abcdefgh!")))).toBe("[secret A]!");
  });

  it("holds no more than the longest value, however long the stream", () => {
    const masker = createMasker([make("A", `${"abcdefgh".repeat(10)}!`)]);
    let held = 0;
    let most = 0;
    const chunk = encoder.encode("abcdefgh%61bcdefgh\\u0061bcdefgh".repeat(40));
    for (let round = 0; round < 200; round++) {
      held += chunk.length - masker.push(chunk).length;
      most = Math.max(most, held);
    }
    expect(most).toBeGreaterThan(80);
    expect(most).toBeLessThan(1_000);
  });
});
