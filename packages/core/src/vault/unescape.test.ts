import { describe, expect, it } from "vitest";
import {
  type Escapes,
  formEscapes,
  htmlEscapes,
  jsonEscapes,
  lineBreaks,
  percentEscapes,
  unescape,
} from "./unescape.js";

/**
 * What a text reads as, and the place in the source of each byte; read in two parts, which must not
 * matter.
 */
function read(
  escapes: Escapes,
  text: string,
): { readonly text: string; readonly places: readonly string[] } {
  const bytes = new TextEncoder().encode(text);
  const source = {
    bytes,
    starts: Int32Array.from(bytes, (_byte, at) => at),
    ends: Int32Array.from(bytes, (_byte, at) => at + 1),
  };
  const all = [...bytes.keys(), bytes.length].map((cut) => {
    const target = {
      bytes: new Uint8Array(100),
      starts: new Int32Array(100),
      ends: new Int32Array(100),
    };
    const first = unescape(escapes, { source, from: 0, to: cut, isOver: false, target, at: 0 });
    const { to } = unescape(escapes, {
      source,
      from: cut - first.pending,
      to: bytes.length,
      isOver: true,
      target,
      at: first.to,
    });
    return {
      text: Buffer.from(target.bytes.subarray(0, to)).toString(),
      places: Array.from({ length: to }, (_, at) => `${target.starts[at]}-${target.ends[at]}`),
    };
  });
  const [whole = { text: "", places: [] }] = all;
  for (const each of all) expect(each).toEqual(whole);
  return whole;
}

describe("unescape()", () => {
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
      expect(text.replaceAll("\ufffd", "")).toBe(
        { "\\ud83dx": "x", "\\ud83d\\n": "\n", "\\ud83d\\u0041": "A" }[source] ?? "",
      );
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

  it.each([
    ["&amp;&lt;&QUOT;&lowbar;", '&<"_'],
    ["&#65;&#x41;&#X41;&#0065;", "AAAA"],
    ["&#65&#66", "AB"],
    ["&#x20ac;", "€"],
    ["&&amp;& &amp &nope; &#; &#x; &#12345678901;", "&&& &amp &nope; &#; &#x; &#12345678901;"],
  ])("reads HTML references in %s as %s", (source, want) => {
    expect(read(htmlEscapes, source).text).toBe(want);
  });

  it("reads a form's plus as a blank, and no line breaks at all", () => {
    expect(read(formEscapes, "a+b%2B%20c").text).toBe("a b+ c");
    expect(read(lineBreaks, "a\r\nb\n\nc\r").text).toBe("abc");
  });

  it("says which bytes of the source a byte stands for", () => {
    expect(read(jsonEscapes, "a\\u00e9b").places).toEqual(["0-1", "1-7", "1-7", "7-8"]);
    expect(read(percentEscapes, "%4%41").places).toEqual(["0-1", "1-2", "2-5"]);
  });
});
