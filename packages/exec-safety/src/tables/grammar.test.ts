import { describe, expect, it } from "vitest";
import { grammarOf, TableError } from "./grammar.js";
import type { Binary } from "./table.js";

const examples = { safe: [], review: [] };
const of = (binary: Omit<Binary, "examples">): ReturnType<typeof grammarOf> =>
  grammarOf({ ...binary, examples });

describe("grammarOf()", () => {
  it("reads flags with their names, values and kinds", () => {
    const { flags, takesNumbers } = of({
      flags: "-a -n,--lines:number --color?:text --arg:text:path --paging=never -# ( ! ,",
    });
    expect(flags.get("-a")).toEqual({ value: "none", kinds: ["text"] });
    expect(flags.get("-n")).toEqual({ value: "needed", kinds: ["number"] });
    expect(flags.get("--lines")).toBe(flags.get("-n"));
    expect(flags.get("--color")).toEqual({ value: "attached", kinds: ["text"] });
    expect(flags.get("--arg")).toEqual({ value: "needed", kinds: ["text", "path"] });
    expect([...flags.keys()]).toEqual([
      "-a",
      "-n",
      "--lines",
      "--color",
      "--arg",
      "--paging=never",
      "(",
      "!",
      ",",
    ]);
    expect(takesNumbers).toBe(true);
  });

  it("reads operands", () => {
    expect(of({ operands: "pattern path*" }).operands).toEqual({
      first: ["pattern"],
      rest: "path",
      min: 1,
    });
    expect(of({ operands: "path+" }).operands).toEqual({ first: ["path"], rest: "path", min: 1 });
    expect(of({ operands: "path path? number?" }).operands).toEqual({
      first: ["path", "path", "number"],
      min: 1,
    });
    expect(of({}).operands).toEqual({ first: [], min: 0 });
  });

  it("knows why a flag is seen by a person", () => {
    const grammar = of({
      flags: "-e:sed",
      reviewFlags: {
        "-o,--out": "write: writes: a file",
        "-c": "change: changes",
        "-x": "exec: runs",
      },
    });
    expect(grammar.flags.get("--out")?.why).toEqual({ topic: "write", text: "writes: a file" });
  });

  it("makes a grammar once", () => {
    const binary: Binary = { flags: "-a", examples };
    expect(grammarOf(binary)).toBe(grammarOf(binary));
  });

  it.each([
    ["a kind that there is not", { flags: "-n:numbre" }, "did you mean number?"],
    ["a name of Object's", { flags: "-n:constructor" }, 'there is no kind "constructor"'],
    ["a flag without a dash", { flags: "lines" }, '"lines" is no flag'],
    ["a flag twice", { flags: "-a", reviewFlags: { "-a": "exec: x" } }, '"-a" is there already'],
    ["an operand behind a rest", { operands: "path* text" }, "behind one that may be absent"],
    [
      "a needed operand behind one that may be absent",
      { operands: "path? text" },
      "behind one that may be absent",
    ],
    [
      "a reason without a topic",
      { review: "makes a file" },
      "it must start with one of exec, write",
    ],
    [
      "a topic that there is not",
      { excess: "harm: makes a file" },
      "it must start with one of exec, write",
    ],
    ["a flag of another entry", { requires: "-l" }, "it is not among the entry's flags"],
    [
      "operands with a flag of another entry",
      { operandsWith: { "-e": "path" } },
      "it is not among the entry's flags",
    ],
  ])("refuses %s", (_name, binary, text) => {
    expect(() => of(binary)).toThrow(TableError);
    expect(() => of(binary)).toThrow(text);
  });
});
