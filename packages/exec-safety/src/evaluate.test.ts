import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "./evaluate.js";
import type { CommandSafety, SafetyOptions } from "./safety.js";

const levelOf = (command: string, options: SafetyOptions = {}): string =>
  evaluateCommandSafety(command, options).riskLevel;
const rulesOf = (safety: CommandSafety): readonly string[] =>
  safety.reasons.map(({ ruleId }) => ruleId);

describe("evaluateCommandSafety()", () => {
  it("says safe with no reason and no layer", () => {
    expect(evaluateCommandSafety("ls -la src")).toEqual({
      riskLevel: "safe",
      reasons: [],
      commands: [{ span: { start: 0, end: 10 }, program: "ls", args: ["-la", "src"] }],
      layers: [],
    });
  });

  it("names every simple command in order of the text, those in substitutions included", () => {
    const { commands } = evaluateCommandSafety(
      'echo "$(git log -1)" | tr a b && f() { rm "$x"; }; cat <(ls)',
    );
    expect(commands.map(({ program, args }) => [program, ...args])).toEqual([
      ["echo", undefined],
      ["git", "log", "-1"],
      ["tr", "a", "b"],
      ["rm", undefined],
      ["cat", undefined],
      ["ls"],
    ]);
  });

  it("leaves the program out where it is not known", () => {
    expect(evaluateCommandSafety("$x a").commands).toEqual([
      { span: { start: 0, end: 4 }, args: ["a"] },
    ]);
  });

  it("gives the most severe reasons first, each once, never more than eight", () => {
    const safety = evaluateCommandSafety("a1; a2; a3; a4; a5; a6; a7; a8; a9; rm -rf /; a1");
    expect(safety.riskLevel).toBe("dangerous");
    expect(safety.reasons).toHaveLength(8);
    expect(safety.reasons[0]).toMatchObject({ level: "dangerous", layer: "dangerous-patterns" });
    expect(new Set(safety.reasons.map(({ message }) => message)).size).toBe(8);
    expect(safety.layers).toEqual(["safe-binaries", "dangerous-patterns"]);
  });

  it.each([
    ["a number", 5],
    ["nothing", undefined],
    ["null", null],
    ["a list", ["rm"]],
    ["an object", { toString: () => "ls" }],
  ])("needs review for %s", (_, command) => {
    expect(evaluateCommandSafety(command as string)).toMatchObject({
      riskLevel: "needs-review",
      reasons: [{ ruleId: "text.not-text" }],
      commands: [],
    });
  });

  it("needs review where its options throw", () => {
    const options = Object.defineProperty({}, "cwd", {
      get: () => {
        throw new Error("broken");
      },
    });
    expect(rulesOf(evaluateCommandSafety("ls", options))).toEqual(["engine.failed"]);
  });

  it.each([
    ["a control character", "rm -rf /\u0007"],
    ["an invisible character", "r\u200bm -rf /"],
    ["a blank of another kind", "ls;\u00a0rm -rf /"],
    ["a mistake on a later line", "rm -rf /\nls ||"],
    ["padding", `ls${" ".repeat(200)}; rm -rf /`],
  ])("sees danger behind %s", (_, command) => {
    const safety = evaluateCommandSafety(command);
    expect(safety.riskLevel).toBe("dangerous");
    expect(safety.layers).toEqual(["shell-syntax", "dangerous-patterns"]);
  });

  it("takes lower limits and no higher ones", () => {
    expect(levelOf("ls -la", { limits: { charsMax: 5 } })).toBe("needs-review");
    expect(levelOf("ls; ls", { limits: { commandsMax: 1 } })).toBe("needs-review");
    expect(levelOf(`echo ${"a".repeat(10_001)}`, { limits: { charsMax: 1_000_000 } })).toBe(
      "needs-review",
    );
    expect(levelOf(`echo ${"a".repeat(10_001)}`, { limits: { charsMax: Number.NaN } })).toBe(
      "needs-review",
    );
  });

  it("has a reason for whatever is not safe, never throws, and always says the same", () => {
    const letters = fc.constantFrom(
      ..."ls rm -rf / ~ $ ( ) { } ` ' \" \\ | & ; < > * ? [ ] = ! # \n a x 1".split(" "),
      " ",
      "\u0000",
      "\u202e",
      "é",
    );
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 40 }), (parts) => {
        const text = parts.join("");
        const safety = evaluateCommandSafety(text);
        expect(safety.reasons.length > 0).toBe(safety.riskLevel !== "safe");
        expect(evaluateCommandSafety(text)).toEqual(safety);
      }),
    );
  });
});
