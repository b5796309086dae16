import { describe, expect, it } from "vitest";
import { SAFETY_LIMITS } from "../config/limits.js";
import { checkText } from "./text-gate.js";

const ruleOf = (text: string, limits = SAFETY_LIMITS): string | undefined =>
  checkText(text, limits)?.ruleId;

describe("checkText()", () => {
  it.each([
    "",
    "ls -la\n\tpwd\n",
    "echo 'é 日本 naïve Ωμέγα'",
    "echo '❤️ 👩‍💻 👍🏽 1️⃣ 🇫🇷'",
    `echo ${"a".repeat(9_900)}`,
    `a${" ".repeat(59)}b`,
    `a${"\n".repeat(7)}b`,
    `echo ${"$(a) ".repeat(200)}`,
    "(".repeat(32),
    "a (b) {c} (d)",
  ])("lets %j pass", (text) => expect(ruleOf(text)).toBeUndefined());

  it.each([
    [`echo ${"a".repeat(10_000)}`, "text.too-long"],
    ["ls\0", "text.control"],
    ["ls\r\npwd", "text.control"],
    ["ls\u001b[2K", "text.control"],
    ["ls\u000bpwd", "text.control"],
    ["ls\u007f", "text.control"],
    ["ls\u0085", "text.control"],
    ["ls \ud800", "text.control"],
    ["ls\u200b", "text.invisible"],
    ["'\u202e'", "text.invisible"],
    ["ls\u00a0-la", "text.invisible"],
    ["ls\u3000", "text.invisible"],
    ["ls\u2028pwd", "text.invisible"],
    ["\ufeffls", "text.invisible"],
    ["l\u00ads", "text.invisible"],
    ["ls\u{e0041}", "text.invisible"],
    ["ls\u3164", "text.invisible"],
    ["ls\u2800", "text.invisible"],
    ["r\u200dm", "text.invisible"],
    ["rm\ufe0f", "text.invisible"],
    ["head -1\ufe0f0", "text.invisible"],
    [`a${" ".repeat(60)}b`, "text.padding"],
    [`a${" \t".repeat(30)}b`, "text.padding"],
    [`a${"\n  ".repeat(8)}b`, "text.padding"],
    [`echo ${"$(a) ".repeat(201)}`, "text.too-many-substitutions"],
    ["`a` ".repeat(101), "text.too-many-substitutions"],
    ["${a}".repeat(201), "text.too-many-substitutions"],
    ["(".repeat(33), "shell.too-deep"],
    ["$(".repeat(33), "shell.too-deep"],
    ["${x:-".repeat(33), "shell.too-deep"],
  ])("stops %j", (text, ruleId) => expect(ruleOf(text)).toBe(ruleId));

  it("says where, in one line for a person", () => {
    expect(checkText("echo 'a\u200bb'", SAFETY_LIMITS)).toEqual({
      ruleId: "text.invisible",
      level: "needs-review",
      layer: "shell-syntax",
      span: { start: 7, end: 8 },
      message: "a character that cannot be seen, or that only looks like a blank",
    });
  });

  it("keeps to lower limits", () => {
    expect(ruleOf("echo a", { ...SAFETY_LIMITS, charsMax: 5 })).toBe("text.too-long");
    expect(ruleOf("((a))", { ...SAFETY_LIMITS, nestingMax: 1 })).toBe("shell.too-deep");
  });
});
