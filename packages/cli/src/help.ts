/**
 * Help: what `--help` prints, rendered from the tables of commands and options.
 */
import type { Command } from "./command.js";
import { EXIT_CODES } from "./exit-codes.js";
import type { Exit } from "./exit-codes.js";
import { COMMON_OPTIONS, optionOf } from "./options.js";
import type { OptionName } from "./options.js";

/** What most terminals show in one line. */
const LINE_CHARS_MAX = 100;

/** Two aligned columns. */
function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

/** Breaks a paragraph into lines that fit a terminal. */
function wrap(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= LINE_CHARS_MAX) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** An option as you type it, with its value's name. */
export function optionUsage(name: OptionName): string {
  const { value } = optionOf(name);
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

/** Every exit of a command. */
export function exitsOf({ exits, failure }: Pick<Command, "exits" | "failure">): readonly Exit[] {
  return [
    ...new Set<Exit>(
      failure === undefined ? ["ok", "failed", "usage", ...exits] : [failure, ...exits],
    ),
  ];
}

/** Lines of `acp --help`. */
export function renderHelp(commands: readonly Command[]): readonly string[] {
  return [
    "acp: a human's consent between an AI agent and what it does",
    "",
    "Usage: acp COMMAND [options]",
    "",
    "Commands:",
    ...columns(
      commands.map(
        (command) => [`${command.name} ${command.usage}`.trim(), command.summary] as const,
      ),
    ),
    "",
    "Options of every command:",
    ...columns(COMMON_OPTIONS.map((name) => [optionUsage(name), optionOf(name).summary] as const)),
    "",
    "Run acp COMMAND --help for details. Start with: acp init",
  ];
}

/** Lines of `acp COMMAND --help`. */
export function renderCommandHelp(command: Command): readonly string[] {
  const names = [...command.options, ...COMMON_OPTIONS];
  return [
    `acp ${command.name}: ${command.summary}`,
    "",
    `Usage: acp ${command.name} ${command.usage} [options]`.replace(/ {2,}/g, " "),
    "",
    ...command.details.flatMap(wrap),
    ...(command.details.length > 0 ? [""] : []),
    "Options:",
    ...columns(names.map((name) => [optionUsage(name), optionOf(name).summary] as const)),
    "",
    "Exit codes:",
    ...columns(
      exitsOf(command).map(
        (exit) => [String(EXIT_CODES[exit].code), EXIT_CODES[exit].meaning] as const,
      ),
    ),
    "",
    "Examples:",
    ...command.examples.map((example) => `  ${example}`),
  ];
}

/** A command as data, for `--help --json`. */
export function describeCommand(command: Command): unknown {
  const options = [...command.options, ...COMMON_OPTIONS].map((name) => ({
    name: `--${name}`,
    ...optionOf(name),
  }));
  const exits = exitsOf(command).map((exit) => ({ name: exit, ...EXIT_CODES[exit] }));
  const { name, summary, usage, details, examples } = command;
  return { name, summary, usage, details, options, exits, examples };
}
