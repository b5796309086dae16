import { describe, expect, it } from "vitest";
import { ConsentError } from "../errors.js";
import { evaluateCommandSafety } from "@acp/exec-safety";
import { parseBinaryTable } from "./parse-table.js";

const FROB = {
  flags: "-n,--lines:number -q",
  reviewFlags: { "-o,--output:path": "write: writes the file it names" },
  operands: "path*",
  subcommands: {
    show: { operands: "text", examples: { safe: ["frob show x"], review: ["frob show"] } },
  },
  examples: {
    safe: ["frob -n 5 a.txt", "frob show x"],
    review: ["frob -o x a", "frob /etc/passwd"],
  },
};

const examples = { safe: ["frob"], review: [] };

const nested = (depth: number): object =>
  depth === 0 ? { examples } : { examples, subcommands: { x: nested(depth - 1) } };

describe("parseBinaryTable()", () => {
  it("takes an entry of the built-in form", () => {
    const extraBinaries = parseBinaryTable({ frob: FROB });
    expect(evaluateCommandSafety("frob -q a.txt | wc -l", { extraBinaries }).riskLevel).toBe(
      "safe",
    );
    expect(evaluateCommandSafety("frob -ox a.txt", { extraBinaries }).riskLevel).toBe(
      "needs-review",
    );
    expect(evaluateCommandSafety("frob a.txt").riskLevel).toBe("needs-review");
    expect(Object.isFrozen(extraBinaries)).toBe(true);
  });

  it.each([
    ["a built-in program", { cat: FROB }, "cat", "this program is a built-in one"],
    ["the builtin test", { test: FROB }, "test", "this program is a built-in one"],
    [
      "an unknown key",
      { frob: { flag: "-x", examples } },
      "frob.flag",
      'unknown key "flag"; did you mean flags?',
    ],
    [
      "an unknown style",
      { frob: { style: "word", examples } },
      "frob.style",
      "did you mean words?",
    ],
    [
      "a word in place of true",
      { frob: { obeysWorkspace: "yes", examples } },
      "frob.obeysWorkspace",
      "expected true or false",
    ],
    [
      "subcommands too deep",
      { frob: nested(4) },
      "frob.subcommands.x.subcommands.x.subcommands.x.subcommands.x",
      "more than 4 levels",
    ],
    ["no examples", { frob: {} }, "frob", 'the entry has no "examples"'],
    [
      "an empty list of examples",
      { frob: { examples: {} } },
      "frob.examples",
      "there is no example",
    ],
    [
      "an unknown kind",
      { frob: { flags: "-n:numbr", examples } },
      "frob",
      'there is no kind "numbr"; did you mean number?',
    ],
    ["a flag twice", { frob: { flags: "-n -n", examples } }, "frob", "is there already"],
    ["no topic", { frob: { review: "because", examples } }, "frob", "it must start with one of"],
    [
      "an operand behind one that may be absent",
      { frob: { operands: "path* text", examples } },
      "frob",
      "behind one that may be absent",
    ],
    ["a name with a slash", { "./frob": FROB }, '["./frob"]', "this is not the name of a program"],
    [
      "a safe example that is not",
      { frob: { examples: { safe: ["frob x"] } } },
      "frob",
      'the example "frob x" is not safe',
    ],
    [
      "a review example that is safe",
      { frob: { examples: { review: ["frob"] } } },
      "frob",
      'the example "frob" is safe',
    ],
    ["a list", [], "", "expected a map"],
    ["a function", { frob: () => 1 }, "frob", "it is not plain JSON data"],
  ])("refuses %s", (_name, table, path, text) => {
    const load = (): unknown => parseBinaryTable(table);
    expect(load).toThrow(ConsentError);
    expect(load).toThrow(expect.objectContaining({ code: "options_invalid", path }));
    expect(load).toThrow(text);
  });

  it("takes an entry that obeys the workspace", () => {
    const extraBinaries = parseBinaryTable({ frob: { obeysWorkspace: true, examples } });
    expect(
      evaluateCommandSafety("frob", { extraBinaries, trustedWorkspace: false }).riskLevel,
    ).toBe("needs-review");
    expect(evaluateCommandSafety("frob", { extraBinaries }).riskLevel).toBe("safe");
  });

  it("is not needed for an answer: an entry that cannot be read needs review", () => {
    const extraBinaries = { frob: { flags: "-n:numbr", examples } };
    expect(evaluateCommandSafety("frob", { extraBinaries }).riskLevel).toBe("needs-review");
    expect(evaluateCommandSafety("cat a.txt", { extraBinaries }).riskLevel).toBe("safe");
  });

  it("is no way to replace a built-in program", () => {
    const extraBinaries = { rm: { operands: "text*", examples } };
    expect(evaluateCommandSafety("rm a.txt", { extraBinaries }).riskLevel).toBe("needs-review");
  });
});
