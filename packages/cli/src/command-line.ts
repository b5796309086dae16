/**
 * Reading a command line: words to a command and its options. Strict: what is unknown, repeated or
 * incomplete is refused.
 */
import { parseArgs } from "node:util";
import { ConsentError, nearest } from "@acp/core";
import type { Command, CommandLine } from "./command.js";
import { COMMON_OPTIONS, OPTIONS, isOptionName, optionOf } from "./options.js";
import type { OptionName } from "./options.js";

/** A command line, read, with its command; none where only `--help` or `--version` was given. */
export interface ReadCommandLine extends CommandLine {
  readonly command: Command | undefined;
}

function usage(message: string, suggestion?: string): ConsentError {
  return new ConsentError(
    "options_invalid",
    message,
    suggestion === undefined ? {} : { suggestion },
  );
}

const PARSE_OPTIONS = Object.fromEntries(
  Object.entries(OPTIONS).map(([name, option]) => {
    const type = "value" in option ? ("string" as const) : ("boolean" as const);
    return [name, name === "help" ? { type, short: "h" } : { type }];
  }),
);

/** The command that the words begin with; the longest name wins. */
function matchCommand(words: readonly string[], commands: readonly Command[]): Command | undefined {
  return [2, 1]
    .map((length) => words.slice(0, length).join(" "))
    .flatMap((name) => commands.filter((candidate) => candidate.name === name))
    .at(0);
}

/** Splits into a command's words and its operands. */
function findCommand(
  words: readonly string[],
  commands: readonly Command[],
): readonly [Command, readonly string[]] {
  const command = matchCommand(words, commands);
  if (command !== undefined) return [command, words.slice(command.name.split(" ").length)];
  const [first = "", second] = words;
  const family = commands
    .filter((candidate) => candidate.name.startsWith(`${first} `))
    .map((candidate) => candidate.name);
  if (family.length > 0) {
    if (second === undefined)
      throw usage(
        `Cannot run "acp ${first}": it needs one of ${family.map((name) => name.split(" ")[1]).join(", ")}`,
      );
    throw usage(
      `Cannot run "acp ${first} ${second}": there is no such command`,
      nearest(`${first} ${second}`, family) ?? family.join(" or "),
    );
  }
  const names = [
    ...new Set(
      commands.flatMap((candidate) => [candidate.name, candidate.name.split(" ")[0] ?? ""]),
    ),
  ];
  throw usage(`Cannot run "acp ${first}": there is no such command`, nearest(first, names));
}

/** An option's token, as `parseArgs` hands it out. */
interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function checkOption(
  token: OptionToken,
  allowed: readonly OptionName[],
  command: Command | undefined,
): OptionName {
  const { name, rawName } = token;
  const of = command === undefined ? "acp" : `acp ${command.name}`;
  if (!isOptionName(name) || !allowed.includes(name)) {
    const near = nearest(name, allowed);
    throw usage(
      `Cannot read option "${rawName}": ${of} has no such option`,
      near === undefined ? undefined : `--${near}`,
    );
  }
  const { value: placeholder } = optionOf(name);
  if (placeholder === undefined) {
    if (token.value !== undefined)
      throw usage(`Cannot read option "${rawName}": it takes no value`);
  } else if (token.value === undefined || token.value === "") {
    throw usage(`Cannot read option "${rawName}": its value ${placeholder} is missing`);
  } else if (token.inlineValue !== true && token.value.startsWith("-") && token.value !== "-") {
    throw usage(
      `Cannot read option "${rawName}": its value ${placeholder} is missing; write ${rawName}=${token.value} if that is the value`,
    );
  }
  return name;
}

function readOptions(
  tokens: readonly OptionToken[],
  command: Command | undefined,
): Pick<CommandLine, "values" | "flags"> {
  const allowed = command === undefined ? COMMON_OPTIONS : [...command.options, ...COMMON_OPTIONS];
  const values: Partial<Record<OptionName, string>> = {};
  const flags = new Set<OptionName>();
  for (const token of tokens) {
    const name = checkOption(token, allowed, command);
    if (token.value === undefined) flags.add(name);
    else if (values[name] === undefined) values[name] = token.value;
    else throw usage(`Cannot read option "${token.rawName}": it is given twice`);
  }
  return { values, flags };
}

/** The parts of a command line, before anything is made of them. */
interface SplitLine {
  readonly words: readonly string[];
  readonly options: readonly OptionToken[];
  readonly rest: readonly string[];
}

function splitLine(argv: readonly string[]): SplitLine {
  const { tokens } = parseArgs({
    args: [...argv],
    options: PARSE_OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const end = tokens.find((token) => token.kind === "option-terminator")?.index ?? argv.length;
  return {
    words: tokens.flatMap((token) =>
      token.kind === "positional" && token.index < end ? [token.value] : [],
    ),
    options: tokens.flatMap((token) => (token.kind === "option" ? [token] : [])),
    rest: argv.slice(end + 1),
  };
}

/** The command that a command line names, also where the rest of it cannot be read. */
export function commandNamed(
  argv: readonly string[],
  commands: readonly Command[],
): Command | undefined {
  return matchCommand(splitLine(argv).words, commands);
}

/**
 * Reads the words after `acp`.
 *
 * @throws ConsentError `options_invalid`, saying what to write instead.
 */
export function readCommandLine(
  argv: readonly string[],
  commands: readonly Command[],
): ReadCommandLine {
  const { words, options, rest } = splitLine(argv);
  if (words.length === 0)
    return { command: undefined, ...readOptions(options, undefined), operands: [], rest };
  const [command, operands] = findCommand(words, commands);
  const line: ReadCommandLine = { command, ...readOptions(options, command), operands, rest };
  if (line.flags.has("help")) return line;
  const extra = operands[command.operandsMax];
  if (extra !== undefined) {
    const { operandsMax: max } = command;
    const fix =
      command.takesRest && max === 0
        ? `write -- before the command: acp ${command.name} -- ${operands.join(" ")}`
        : `usage: acp ${command.name} ${command.usage}`.trim();
    const taken = max === 0 ? "no operand" : max === 1 ? "only one operand" : `${max} operands`;
    throw usage(`Cannot read "${extra}": acp ${command.name} takes ${taken}; ${fix}`);
  }
  if (rest.length > 0 && !command.takesRest)
    throw usage(`Cannot read "-- ${rest[0]}": acp ${command.name} takes nothing after --`);
  return line;
}
