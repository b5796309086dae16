import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Command, parseCommand } from "./command.js";

describe("parseCommand()", () => {
  it.each<[string, Command]>([
    ["a", { kind: "approve", word: "a", offer: "" }],
    ["approve", { kind: "approve", word: "approve", offer: "" }],
    ["APPROVE tool-10m ", { kind: "approve", word: "approve", offer: "tool-10m" }],
    ["d", { kind: "deny", reason: "" }],
    ["deny  not now, please", { kind: "deny", reason: "not now, please" }],
    ["e", { kind: "edit" }],
    ["details", { kind: "details" }],
    ["N", { kind: "next" }],
    ["?", { kind: "help" }],
    ["", { kind: "empty" }],
    [" \t", { kind: "empty" }],
    ["yes", { kind: "unknown", text: "yes" }],
    ["e now", { kind: "unknown", text: "e now" }],
  ])("reads %j", (line, want) => {
    expect(parseCommand(line)).toEqual(want);
  });

  it("reads a yes out of nothing but its two words", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (line) => {
        if (parseCommand(line).kind === "approve")
          expect(line.trim().toLowerCase()).toMatch(/^(?:a|approve)(?:\s|$)/);
      }),
    );
  });
});
