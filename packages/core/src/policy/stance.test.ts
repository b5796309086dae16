import { describe, expect, it } from "vitest";
import { createReader } from "./readings.js";
import { compileStance } from "./stance.js";

const allows = (pattern: string, text: string): boolean =>
  compileStance(pattern, { grants: true, read: createReader() })(text);
const denies = (pattern: string, text: string): boolean =>
  compileStance(pattern, { grants: false, read: createReader() })(text);

describe("compileStance() for an allow", () => {
  it.each([
    ["plain text that the pattern does not match", "read*", "write"],
    ["plain text in another case", "read*", "READ_ALL"],
    ["a text that matches as it is, and not in its composed form", "*\u0301*", "e\u0301x"],
    ["a text that matches without its marks only", "read*", "re\u0301ad"],
  ])("leaves out %s", (_, pattern, text) => {
    expect(allows(pattern, text)).toBe(false);
  });

  it("takes what matches in every reading", () => {
    expect(allows("read*", "read_all")).toBe(true);
    expect(allows("*é", "abé")).toBe(true);
  });
});

describe("compileStance() for a deny", () => {
  it.each([
    ["as it is, and in none of its readings", "de?te", "de\u0301te"],
    ["without what cannot be seen", "delete*", "del\u200bete_all"],
    ["in another case", "delete*", "DELETE_ALL"],
    ["where the pattern itself is the odd one", "ｄelete*", "delete_all"],
    ["by a letter that looks like another one in lower case only", "bash*", "\u0181ash"],
    ["by a capital that is two letters", "strasse*", "STRA\u1e9eE"],
    ["with a sigma at the end of a part", "ΟΣ*", "οσα"],
  ])("reaches a text that matches %s", (_, pattern, text) => {
    expect(denies(pattern, text)).toBe(true);
  });

  it("leaves out what reads like something else", () => {
    expect(denies("delete*", "read_all")).toBe(false);
    expect(denies("delete*", "re\u0301ad_all")).toBe(false);
  });
});
