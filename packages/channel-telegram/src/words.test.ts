import { describe, expect, it } from "vitest";
import { type Words, readWords } from "./words.js";

describe("readWords()", () => {
  it.each<[string, Words]>([
    ["approve", { kind: "approve", typed: "approve" }],
    [" APPROVE\n", { kind: "approve", typed: "approve" }],
    ["deny", { kind: "deny", reason: "" }],
    ["Deny: not on a Friday", { kind: "deny", reason: "not on a Friday" }],
    ["deny not now,\nplease", { kind: "deny", reason: "not now,\nplease" }],
    [' {"path": "a"} ', { kind: "edit", json: '{"path": "a"}' }],
  ])("reads %j", (text, words) => {
    expect(readWords(text)).toEqual(words);
  });

  it.each([
    "",
    "yes",
    "ok",
    "approved",
    "approve it",
    "approve.",
    "/approve",
    "aprove",
    "аpprove",
    "denying",
    "no",
    "👍",
    "[1]",
    "“approve”",
    "don't approve",
  ])("takes %j for nothing", (text) => {
    expect(readWords(text)).toEqual({ kind: "unclear" });
  });
});
