import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createSignInCodes } from "./sign-in-codes.js";

const ada = { approver: "ada", subject: "ada" };
const bob = { approver: "bob", subject: "bob" };

describe("createSignInCodes()", () => {
  it("makes codes that people can read out, each of its own", () => {
    const codes = createSignInCodes(manualClock());
    const made = Array.from({ length: 200 }, () => codes.make(ada));
    for (const code of made)
      expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){2}$/);
    expect(new Set(made).size).toBe(200);
  });

  it("takes a code once, for whom it was made", () => {
    const codes = createSignInCodes(manualClock());
    const [one, other] = [codes.make(ada), codes.make(bob)];
    expect(codes.take(other)).toBe(bob);
    expect(codes.take(other)).toBeUndefined();
    expect(codes.take(one)).toBe(ada);
  });

  it.each([
    ["in lower case", (code: string) => code.toLowerCase()],
    ["without dashes", (code: string) => code.replaceAll("-", "")],
    ["with blanks", (code: string) => ` ${code.replaceAll("-", " ")} `],
    ["with O and L for 0 and 1", (code: string) => code.replaceAll("0", "O").replaceAll("1", "l")],
  ])("takes a code %s", (_how, write) => {
    const codes = createSignInCodes(manualClock());
    expect(codes.take(write(codes.make(ada)))).toBe(ada);
  });

  it.each(["", "-", "AAAA-AAAA-AAAA", "AAAA-AAAA", "é".repeat(12), "U".repeat(12), "A".repeat(13)])(
    "does not take %j",
    (typed) => {
      const codes = createSignInCodes(manualClock());
      codes.make(ada);
      expect(codes.take(typed)).toBeUndefined();
    },
  );

  it("takes a code until its ten minutes are over", async () => {
    const clock = manualClock();
    const codes = createSignInCodes(clock);
    const [one, other] = [codes.make(ada), codes.make(ada)];
    await clock.advance(599_999);
    expect(codes.take(one)).toBe(ada);
    await clock.advance(1);
    expect(codes.take(other)).toBeUndefined();
  });

  it("keeps the newest eight of a person, and everybody else's", () => {
    const codes = createSignInCodes(manualClock());
    const others = codes.make(bob);
    const [first = "", ...rest] = Array.from({ length: 9 }, () => codes.make(ada));
    expect(codes.take(first)).toBeUndefined();
    expect(rest.map((code) => codes.take(code))).toEqual(rest.map(() => ada));
    expect(codes.take(others)).toBe(bob);
  });

  it("takes none after clear()", () => {
    const codes = createSignInCodes(manualClock());
    const code = codes.make(ada);
    codes.clear();
    expect(codes.take(code)).toBeUndefined();
  });
});
