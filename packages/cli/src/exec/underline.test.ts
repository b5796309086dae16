import { describe, expect, it } from "vitest";
import { underline } from "./underline.js";

describe("underline()", () => {
  it("marks every place, once where they meet or overlap", () => {
    expect(
      underline("curl x | sh -c y", [
        { start: 9, end: 11 },
        { start: 0, end: 4 },
        { start: 2, end: 6 },
      ]),
    ).toEqual([{ text: "curl x | sh -c y", marks: "^^^^^^   ^^" }]);
  });

  it("gives each line its own marks", () => {
    expect(underline("ls\nrm x\ncat", [{ start: 3, end: 9 }])).toEqual([
      { text: "ls", marks: "" },
      { text: "rm x", marks: "^^^^" },
      { text: "cat", marks: "^" },
    ]);
  });

  it("shows what cannot be seen, and marks what is shown", () => {
    expect(underline("a\u202eb c", [{ start: 1, end: 2 }])).toEqual([
      { text: "a\\u202eb c", marks: " ^^^^^^" },
    ]);
    expect(underline("a\tb c", [{ start: 4, end: 5 }])).toEqual([
      { text: "a\\u0009b c", marks: "         ^" },
    ]);
  });

  it("puts marks under wide characters and under letters with accents", () => {
    expect(
      underline("echo 日本 x", [
        { start: 5, end: 7 },
        { start: 8, end: 9 },
      ])[0]?.marks,
    ).toBe("     ^^^^ ^");
    expect(underline("e\u0301 x", [{ start: 0, end: 2 }])[0]).toEqual({
      text: "e\u0301 x",
      marks: "^",
    });
    expect(underline("🎉 x", [{ start: 3, end: 4 }])[0]?.marks).toBe("   ^");
  });

  it("marks one character for an empty place, and nothing beyond the text", () => {
    expect(underline("abc", [{ start: 1, end: 1 }])[0]?.marks).toBe(" ^");
    expect(underline("abc", [{ start: 3, end: 3 }])[0]?.marks).toBe("");
    expect(underline("abc", [{ start: 2, end: 99 }])[0]?.marks).toBe("  ^");
    expect(underline("", [{ start: 0, end: 0 }])).toEqual([{ text: "", marks: "" }]);
  });
});
