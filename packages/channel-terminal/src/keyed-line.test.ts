import { describe, expect, it } from "vitest";
import { type Keyed, createKeyedLine } from "./keyed-line.js";

/** What the last of these reads did. */
function after(reads: readonly string[]): Keyed | undefined {
  const line = createKeyedLine();
  return reads.map((read) => line.take(read)).at(-1);
}

const echoed = (reads: readonly string[]): readonly string[] => {
  const line = createKeyedLine();
  return reads.map((read) => {
    const keyed = line.take(read);
    return keyed.kind === "more" ? keyed.echo : keyed.kind;
  });
};

describe("createKeyedLine() tells", () => {
  it.each<[name: string, reads: readonly string[], want: Keyed]>([
    ["a line typed key by key", ["a", "\r"], { kind: "line", text: "a", isKeyByKey: true }],
    [
      "a word typed key by key",
      ["n", "\u00e9", "o", "\n"],
      { kind: "line", text: "n\u00e9o", isKeyByKey: true },
    ],
    ["a paste without marks", ["a\rrest of it"], { kind: "line", text: "a", isKeyByKey: false }],
    [
      "a paste without marks and without its end",
      ["approve", "\r"],
      { kind: "line", text: "approve", isKeyByKey: false },
    ],
    [
      "a paste without marks after a key",
      ["a", "pprove", "\r"],
      { kind: "line", text: "approve", isKeyByKey: false },
    ],
    ["a marked paste", ["\u001b[200~a\rmore\r\u001b[201~"], { kind: "pasted" }],
    [
      "a marked paste in many reads",
      ["\u001b[20", "0~a\r", "b\r\u001b[2", "01~"],
      { kind: "pasted" },
    ],
    ["a marked paste of one character", ["\u001b[200~", "a", "\u001b[201~"], { kind: "pasted" }],
    ["a marked paste that is not over", ["\u001b[200~a\r", "\r", "\r"], { kind: "more", echo: "" }],
    ["a marked paste after a key", ["a", "\u001b[200~\r\u001b[201~"], { kind: "pasted" }],
    ["Ctrl-D on an empty line", ["a", "\u007f", "\u0004"], { kind: "over" }],
    ["Ctrl-D on another", ["a", "\u0004"], { kind: "more", echo: "" }],
    ["Ctrl-C", ["a", "\u0003"], { kind: "signal", signal: "SIGINT" }],
    [
      "an arrow, which is no letter",
      ["a", "\u001b[A", "\r"],
      { kind: "line", text: "a", isKeyByKey: true },
    ],
    [
      "Alt and a letter, which is none",
      ["\u001ba", "\r"],
      { kind: "line", text: "", isKeyByKey: true },
    ],
    [
      "a control character in a word",
      ["a", "\u0000", "\r"],
      { kind: "line", text: "a\u0000", isKeyByKey: true },
    ],
    [
      "a line that was taken back",
      ["a", "b", "\u0015", "d", "\r"],
      { kind: "line", text: "d", isKeyByKey: true },
    ],
    [
      "a word that was taken back",
      ["d", " ", "x", "y", "\u0017", "z", "\r"],
      { kind: "line", text: "d z", isKeyByKey: true },
    ],
  ])("%s", (_, reads, want) => {
    expect(after(reads)).toEqual(want);
  });

  it("what to show, and shows no control character", () => {
    expect(echoed(["a", "\u007f", "\u0007", "\u009b", "\u001b[2J", "b"])).toEqual([
      "a",
      "\b \b",
      "",
      "",
      "",
      "b",
    ]);
  });

  it("a line that is bounded", () => {
    const line = createKeyedLine();
    for (let count = 0; count < 5_000; count++) line.take("x");
    const keyed = line.take("\r");
    expect(keyed.kind === "line" && keyed.text.length).toBe(4_096);
  });
});
