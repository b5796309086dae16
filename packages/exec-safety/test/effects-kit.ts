/**
 * Rows: the lines that the tables of programs call safe, and what they do in a world of traps. Many
 * share one run while none of them does anything.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type EffectWorld,
  isInstalled,
  listEffects,
  observeEffects,
  type ObserveOptions,
} from "@acp/testing";
import { TABLES } from "../src/tables/binaries.js";
import { SHOWS_VERSION } from "../src/tables/shows-version.js";
import type { Binary, BinaryTable } from "../src/tables/table.js";
import { evaluateCommandSafety } from "../src/index.js";
import { isMeant } from "./effects-known.js";
import { LINES } from "./effects-lines.js";
import { OTHER_NAME } from "./effects-programs.js";

/** One line that a table calls safe. */
export interface Row {
  readonly line: string;
  /**
   * The line as it is run here, with the name that its program has here; `undefined` where that is
   * not here.
   */
  readonly runs: string | undefined;
  /** Its table's program. */
  readonly program: string;
}

/** Builtins and words of bash that are programs of the tables. */
const BUILTINS: ReadonlySet<string> = new Set(
  `: . [ alias bg bind break builtin caller cd command compgen complete compopt continue coproc declare dirs disown echo enable eval exec exit export
  false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source
  suspend test time times trap true type typeset ulimit umask unalias unset wait`
    .trim()
    .split(/\s+/),
);

function linesOf({ examples, subcommands = {} }: Binary): readonly string[] {
  return [...examples.safe, ...Object.values(subcommands).flatMap(linesOf)];
}

/** By which name a program can be run here. */
function nameHere(program: string): string | undefined {
  const other = OTHER_NAME.get(program);
  if (other !== undefined && isInstalled(other)) return other;
  return BUILTINS.has(program) || isInstalled(program) ? program : undefined;
}

function rowOf(program: string, line: string): Row {
  const name = nameHere(program);
  const named = (word: string): string => (word === program && name !== undefined ? name : word);
  return { line, program, runs: name === undefined ? undefined : line.replace(/^\S+/, named) };
}

const isSafe = (line: string): boolean =>
  evaluateCommandSafety(line, { noInput: true }).riskLevel === "safe";

/**
 * The lines of an entry. One that shows lines of another program, which is like it, also has them
 * with its own name.
 */
function rowsOf(table: BinaryTable): readonly Row[] {
  return Object.entries(table).flatMap(([program, binary]) => {
    const isOwn = (line: string): boolean => line.split(/[\s;|&(]+/).includes(program);
    const lines = linesOf(binary);
    const named = lines.filter((line) => !isOwn(line)).map((line) => line.replace(/^\S+/, program));
    return [...lines.filter(isOwn), ...named.filter(isSafe)].map((line) => rowOf(program, line));
  });
}

const QUESTIONS = ["--version", "--help"];
const VERSIONS = [...SHOWS_VERSION].flatMap((program) =>
  QUESTIONS.map((flag) => rowOf(program, `${program} ${flag}`)),
);
const ELSEWHERE = LINES.map((line) => rowOf("bash", line));

/** Every safe line of every table, what shows a version, and {@link LINES}. */
export const ROWS: readonly Row[] = [
  ...new Map(
    [...TABLES.flatMap(rowsOf), ...VERSIONS.filter(({ line }) => isSafe(line)), ...ELSEWHERE].map(
      (row) => [row.line, row],
    ),
  ).values(),
];

/** What a run of one line or more did; each effect in words. */
export type Found = ReadonlyMap<string, readonly string[]>;

const TEXT = "one 1\ntwo 2\n";
/**
 * What a shell says of a program that it does not find: such a row has not run, and nothing is
 * known of it.
 */
const NOT_FOUND = 127;
export const NO_RUN = "no run: there is no such program";
/** In two words, for `ps` shows the command that it is in. */
const SAY_NO_RUN = NO_RUN.replace(" ", "' '");

/** A relative path, or one letter: `src/new.ts`, `a`; `s/x/y` is none. */
const OPERAND = /^(?:[a-z]|\w[\w-]*\.[\w.-]*\w|\w[\w.-]+(?:\/[\w.-]*\w)+)$/;

/**
 * The files that lines name and the world has not: without them a program ends before it does
 * anything.
 */
function operandsOf(
  lines: readonly string[],
  { folder }: EffectWorld,
): Readonly<Record<string, string>> {
  const words = lines
    .flatMap((line) => line.split(/[\s;|&<>()"'`=]+/))
    .filter((word) => OPERAND.test(word));
  const isFolder = (word: string): boolean => words.some((other) => other.startsWith(`${word}/`));
  const absent = words.filter(
    (word) => !existsSync(join(folder, "project", word)) && !isFolder(word),
  );
  return Object.fromEntries(absent.map((word) => [word, TEXT]));
}

/** Where the text lies that each of several lines reads in a pipe of its own. */
const FED = "/world/home/fed.txt";

/**
 * Lines as one command, each in a shell of its own: one that ends or replaces its shell ends no
 * other.
 */
function together(lines: readonly string[], isFed: boolean): string {
  const shell = (line: string): string =>
    `${isFed ? `cat ${FED} | ` : ""}(${line}\n)\n[ $? -ne ${NOT_FOUND} ] || echo '${SAY_NO_RUN}'`;
  return lines.map(shell).join("\n");
}

async function effectsOf(
  lines: readonly string[],
  world: EffectWorld,
  { stdin, ...options }: ObserveOptions,
): Promise<readonly string[]> {
  const files = operandsOf(lines, world);
  const [only = "", ...others] = lines;
  const fed = typeof stdin === "object" && "piped" in stdin ? stdin.piped : undefined;
  const effects =
    others.length === 0
      ? await observeEffects(only, world, {
          files,
          ...options,
          ...(stdin === undefined ? {} : { stdin }),
        })
      : await observeEffects(together(lines, fed !== undefined), world, {
          files: { ...files, [FED]: fed ?? "" },
          ...options,
        });
  const hasRun = effects.exitCode !== NOT_FOUND && !effects.stdout.includes(NO_RUN);
  return [
    ...listEffects(effects).map(({ effect, what }) => `${effect}: ${what}`),
    ...(hasRun ? [] : [NO_RUN]),
  ];
}

/** Finds the lines that have effects: where a run of many has one, its halves are run again. */
export async function findEffects(
  lines: readonly string[],
  world: EffectWorld,
  options: ObserveOptions = {},
): Promise<Found> {
  const effects = await effectsOf(lines, world, options);
  const [only, ...others] = lines;
  if (effects.length === 0 || only === undefined) return new Map();
  if (others.length === 0)
    return effects.every((effect) => isMeant(only, effect))
      ? new Map()
      : new Map([[only, effects]]);
  const half = Math.ceil(lines.length / 2);
  const found = [
    await findEffects(lines.slice(0, half), world, options),
    await findEffects(lines.slice(half), world, options),
  ];
  return new Map(found.flatMap((one) => [...one]));
}

/** Cuts a list into parts of at most `size`. */
export function partsOf<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  );
}
