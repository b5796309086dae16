import { describe, expect, it } from "vitest";
import { isConsentError } from "@acp/core";
import { readCommandLine } from "./command-line.js";
import { COMMANDS } from "./commands.js";

const read = (...argv: readonly string[]) => readCommandLine(argv, COMMANDS);

function refusal(...argv: readonly string[]): string {
  try {
    read(...argv);
  } catch (error) {
    if (isConsentError(error, "options_invalid"))
      return error.suggestion === undefined
        ? error.message
        : `${error.message} → ${error.suggestion}`;
    throw error;
  }
  return "accepted";
}

describe("readCommandLine()", () => {
  it("finds commands of one and two words, and options before and after them", () => {
    const line = read("--home", "here", "policy", "explain", "p.yml", "--tool=a.b", "--json");
    expect(line.command?.name).toBe("policy explain");
    expect(line.operands).toEqual(["p.yml"]);
    expect(line.values).toEqual({ home: "here", tool: "a.b" });
    expect([...line.flags]).toEqual(["json"]);
  });

  it("leaves what follows -- untouched, options and dashes included", () => {
    const line = read("mcp", "--agent", "x", "--", "npx", "--json", "--", "-y");
    expect(line.command?.name).toBe("mcp");
    expect(line.rest).toEqual(["npx", "--json", "--", "-y"]);
    expect(line.flags.has("json")).toBe(false);
  });

  it("reads no command as none", () => {
    expect(read("--version").command).toBeUndefined();
    expect(read().command).toBeUndefined();
  });

  it("takes - as a value and as an operand", () => {
    expect(read("policy", "check", "-").operands).toEqual(["-"]);
    expect(read("policy", "explain", "--action", "-").values.action).toBe("-");
  });

  it("asks for no operands where help is wanted", () => {
    expect(read("pending", "extra", "--help").command?.name).toBe("pending");
  });

  it.each([
    [["aprove"], 'Cannot run "acp aprove": there is no such command → approve'],
    [["xyzzy"], 'Cannot run "acp xyzzy": there is no such command'],
    [["policy"], 'Cannot run "acp policy": it needs one of check, schema, explain'],
    [["policy", "chekc"], 'Cannot run "acp policy chekc": there is no such command → policy check'],
    [
      ["audit", "xyzzyxyzzyxyzzy"],
      'Cannot run "acp audit xyzzyxyzzyxyzzy": there is no such command → audit verify or audit show or audit export',
    ],
    [["pending", "--jsno"], 'Cannot read option "--jsno": acp pending has no such option → --json'],
    [["pending", "--off"], 'Cannot read option "--off": acp pending has no such option'],
    [["pending", "-x"], 'Cannot read option "-x": acp pending has no such option'],
    [["pending", "--json=yes"], 'Cannot read option "--json": it takes no value'],
    [["pending", "--home"], 'Cannot read option "--home": its value DIR is missing'],
    [["pending", "--home="], 'Cannot read option "--home": its value DIR is missing'],
    [
      ["pending", "--home", "--json"],
      'Cannot read option "--home": its value DIR is missing; write --home=--json if that is the value',
    ],
    [["pending", "--home", "a", "--home", "b"], 'Cannot read option "--home": it is given twice'],
    [["pending", "extra"], 'Cannot read "extra": acp pending takes no operand; usage: acp pending'],
    [
      ["pause", "1m", "2m"],
      'Cannot read "2m": acp pause takes only one operand; usage: acp pause [DURATION]',
    ],
    [
      ["mcp", "npx", "server"],
      'Cannot read "npx": acp mcp takes no operand; write -- before the command: acp mcp -- npx server',
    ],
    [["pending", "--", "x"], 'Cannot read "-- x": acp pending takes nothing after --'],
  ])("refuses %j with the fix", (argv, message) => {
    expect(refusal(...argv)).toBe(message);
  });
});
