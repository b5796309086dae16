import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { SAFETY_LIMITS } from "../src/config/limits.js";
import { parseShell } from "../src/parse/parse-shell.js";
import type { Command } from "../src/parse/tree.js";
import { visitCommands } from "../src/parse/visit.js";
import { NO_BASH, runsOf } from "./bash.js";

interface Case {
  readonly name: string;
  readonly text: string;
  readonly commands?: readonly (string | null)[];
  readonly argv?: readonly string[];
  readonly refused?: string;
  readonly invalid?: true;
}

const { cases }: { readonly cases: readonly Case[] } = JSON.parse(
  readFileSync(new URL("../../../spec/vectors/exec-parser.json", import.meta.url), "utf8"),
);
const listed = cases.filter(({ commands }) => commands !== undefined);
const decoded = cases.filter(({ argv }) => argv !== undefined);
const refused = cases.filter((row) => row.refused !== undefined || row.invalid === true);

function commandsOf(text: string): readonly Command[] | undefined {
  const parsed = parseShell(text, SAFETY_LIMITS);
  if ("refused" in parsed) return undefined;
  const commands: Command[] = [];
  visitCommands(parsed.script, (command) => void commands.push(command));
  return commands;
}

function programsOf(text: string): readonly (string | null)[] | undefined {
  return commandsOf(text)?.flatMap(({ words: [program] }) =>
    program === undefined ? [] : [program.text ?? null],
  );
}

/**
 * Whether bash reads the text. It tells some mistakes on its error stream only; a here-document
 * without its end is none for it.
 */
function isValidInBash(text: string): boolean {
  const { status, stderr } = spawnSync("bash", ["--noprofile", "--norc", "-n"], {
    input: text,
    encoding: "utf8",
  });
  return status === 0 && (stderr === "" || stderr.includes("here-document"));
}

describe("parseShell() on spec/vectors/exec-parser.json", () => {
  it("has vectors of every kind", () => {
    expect(listed.length).toBeGreaterThanOrEqual(250);
    expect(decoded.length).toBeGreaterThanOrEqual(40);
    expect(cases.filter(({ invalid }) => invalid === true).length).toBeGreaterThanOrEqual(50);
    expect(listed.length + decoded.length + refused.length).toBe(cases.length);
  });

  it.each(listed)("finds every command of $name: $text", ({ text, commands = [] }) => {
    expect(programsOf(text)?.map(String).sort()).toEqual(commands.map(String).sort());
  });

  it.each(decoded)("decodes the words of $text", ({ text, argv }) => {
    expect(commandsOf(text)?.map(({ words }) => words.map((word) => word.text))).toEqual([argv]);
  });

  it.each(refused)("refuses $name: $text", ({ text }) => {
    expect(parseShell(text, SAFETY_LIMITS)).toMatchObject({
      refused: { ruleId: "shell.unparsable", level: "needs-review" },
    });
  });
});

describe.skipIf(NO_BASH !== undefined)(
  `spec/vectors/exec-parser.json in bash${NO_BASH === undefined ? "" : `, skipped: ${NO_BASH}`}`,
  () => {
    it("bash reads the same texts, and refuses the same", () => {
      const differing = cases.filter(
        ({ text, invalid }) => isValidInBash(text) !== (invalid !== true),
      );
      expect(differing.map(({ text }) => text)).toEqual([]);
    });

    it("bash runs nothing that is not listed", async () => {
      const known = listed.filter(({ commands = [] }) => !commands.includes(null));
      const runs = await runsOf(known.map(({ text }) => text));
      expect(runs.flat().length).toBeGreaterThan(200);
      const differing = known.flatMap(({ text, commands = [] }, at) => {
        const found = runs[at]?.filter(([program = ""]) => !commands.includes(program)) ?? [];
        return found.length === 0 ? [] : [{ text, found }];
      });
      expect(differing).toEqual([]);
    });

    it("bash passes the words that are listed", async () => {
      const runs = await runsOf(decoded.map(({ text }) => text));
      expect(runs).toEqual(decoded.map(({ argv }) => [argv]));
    });
  },
);
