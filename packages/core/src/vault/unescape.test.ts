import { describe, expect, it } from "vitest";
import { createUnescaper, type Escapes, jsonEscapes, percentEscapes } from "./unescape.js";

/** What a text reads as, and the place in the source of each byte. */
function read(escapes: Escapes, text: string): { readonly text: string; readonly places: readonly string[] } {
  const out: number[] = [];
  const places: string[] = [];
  const stage = createUnescaper(escapes, (byte, start, end) => {
    out.push(byte);
    places.push(`${start}-${end}`);
  });
  for (const [at, byte] of new TextEncoder().encode(text).entries()) stage.take(byte, at, at + 1);
  stage.end();
  return { text: Buffer.from(out).toString(), places };
}

describe("createUnescaper()", () => {
  it.each([
    ["plain", "plain"],
    ['\\"\\\\\\/\\b\\f\\n\\r\\t', '"\\/\b\f\n\r\t'],
    ["\\u0041\\u00e9\\u20AC", "Aé€"],
    ["\\ud83d\\ude00!", "😀!"],
    ["\\\\u0041", "\\u0041"],
    ["\\x \\u12G4 \\u12", "\\x \\u12G4 \\u12"],
    ["\\\\", "\\"],
    ["\\", "\\"],
    ["\\u\\u0041", "\\uA"],
  ])("reads JSON %s as %s", (source, want) => {
    expect(read(jsonEscapes, source).text).toBe(want);
  });

  it("reads a half of a pair as something that no text holds, and what follows as what it is", () => {
    for (const source of ["\\ud83dx", "\\ud83d\\n", "\\ud83d\\u0041", "\\ude00"]) {
      const { text } = read(jsonEscapes, source);
      expect(text).toContain("\ufffd");
      expect(text.replaceAll("\ufffd", "")).toBe({ "\\ud83dx": "x", "\\ud83d\\n": "\n", "\\ud83d\\u0041": "A" }[source] ?? "");
    }
  });

  it.each([
    ["a%20b", "a b"],
    ["%C3%a9", "é"],
    ["%%41", "%A"],
    ["%4", "%4"],
    ["%zz%", "%zz%"],
    ["100%", "100%"],
  ])("reads percent escapes in %s as %s", (source, want) => {
    expect(read(percentEscapes, source).text).toBe(want);
  });

  it("says which bytes of the source a byte stands for", () => {
    expect(read(jsonEscapes, "a\\u00e9b").places).toEqual(["0-1", "1-7", "1-7", "7-8"]);
    expect(read(percentEscapes, "%4%41").places).toEqual(["0-1", "1-2", "2-5"]);
  });
});
