import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { distinctPeople, includesPerson, isSamePerson, personKey } from "../index.js";

describe("personKey()", () => {
  it.each([
    ["ann", "Ann"],
    ["ann", "ann "],
    ["ann", "\u00a0ANN\t"],
    ["ann", "a\u200bnn"],
    ["ann", "ann\ufeff"],
    ["ann", "ａｎｎ"],
    ["ann lee", "Ann\u3000 Lee"],
    ["andré", "ANDRE\u0301"],
    ["straße", "STRASSE"],
    ["οδος", "ΟΔΟΣ"],
    ["andré", "ANDRE\u200b\u0301"],
    ["ann", "𝐀nn"],
    ["\u01f0\u0323", "J\u030c\u0323"],
    ["ann", "\u{e0061}ann"],
    ["kim", "\u212aim"],
    ["straße", "STRA\u1e9eE"],
  ])("takes %j and %j for one person", (a, b) => {
    expect(isSamePerson(a, b)).toBe(true);
  });

  it.each([
    ["ann", "anna"],
    ["ann lee", "annlee"],
    ["ann", "anｎ2"],
    ["ann", "\u0430nn"],
  ])("keeps %j and %j apart", (a, b) => {
    expect(isSamePerson(a, b)).toBe(false);
  });

  it("is its own normal form", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        (name) => personKey(personKey(name)) === personKey(name),
      ),
      { numRuns: 2_000 },
    );
  });

  it("leaves nothing of a name that nobody sees", () => {
    expect(personKey(" \u200b\u2060\u3164 ")).toBe("");
  });

  it("is for each character what Unicode says of it, in every case and composition", () => {
    // The others are their own normal form.
    const changes =
      /[\p{Changes_When_NFKC_Casefolded}\p{Changes_When_Casemapped}\p{White_Space}\p{Cc}\u2800]/u;
    const odd: string[] = [];
    for (let point = 0; point <= 0x10ffff; point += 1) {
      const character = String.fromCodePoint(point);
      if (!changes.test(character)) continue;
      const name = `a${character}b`;
      const key = personKey(name);
      const isUnseen = /[\p{Default_Ignorable_Code_Point}\u2800]/u.test(character);
      const isBlank = /[\p{White_Space}\p{Cc}]/u.test(character);
      const forms = [
        key,
        name.toLowerCase(),
        name.toUpperCase(),
        name.normalize("NFD"),
        name.normalize("NFKC"),
      ];
      const isSound =
        forms.every((form) => personKey(form) === key) &&
        (key === "ab") === isUnseen &&
        (key === "a b") === isBlank;
      if (!isSound) odd.push(point.toString(16));
    }
    expect(odd).toEqual([]);
  });

  it("writes each sigma as one letter, as programs do that do not look at what stands around it", () => {
    expect(personKey("ΟΔΟΣ ΟΔΟΣ")).toBe("οδοσ οδοσ");
  });
});

describe("lists of people", () => {
  it("are searched and counted by person", () => {
    expect(includesPerson(["Ann", "bob"], "ann ")).toBe(true);
    expect(includesPerson(["Ann", "bob"], "carl")).toBe(false);
    expect(distinctPeople(["Ann", "bob", "ann", "BOB "])).toEqual(["Ann", "bob"]);
  });
});
