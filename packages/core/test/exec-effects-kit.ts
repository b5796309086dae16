/** Rows: the lines that the tables of programs call safe, and what they do in a world of traps. Many share one run while none of them does anything. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type EffectWorld, isInstalled, listEffects, observeEffects, type ObserveOptions } from "@acp/testing";
import { TABLES } from "../src/exec/binaries/binaries.js";
import type { Binary, BinaryTable } from "../src/exec/binaries/table.js";
import { isMeant } from "./exec-effects-known.js";
import { LINES } from "./exec-effects-lines.js";

/** One line that a table calls safe. */
export interface Row {
  readonly line: string;
  /** Whether its program is bash itself or is installed here. */
  readonly isHere: boolean;
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

function rowsOf(table: BinaryTable): readonly Row[] {
  return Object.entries(table).flatMap(([program, binary]) => {
    const isHere = BUILTINS.has(program) || isInstalled(program);
    return [...new Set(linesOf(binary))].map((line) => ({ line, program, isHere }));
  });
}

const ELSEWHERE: readonly Row[] = LINES.map((line) => ({ line, program: "bash", isHere: true }));

/** Every safe line of every table, and those of {@link LINES}. */
export const ROWS: readonly Row[] = [...new Map([...TABLES.flatMap(rowsOf), ...ELSEWHERE].map((row) => [row.line, row])).values()];

/** What a run of one line or more did; each effect in words. */
export type Found = ReadonlyMap<string, readonly string[]>;

const TEXT = "one 1\ntwo 2\n";

/** A relative path, or one letter: `src/new.ts`, `a`; `s/x/y` is none. */
const OPERAND = /^(?:[a-z]|\w[\w-]*\.[\w.-]*\w|\w[\w.-]+(?:\/[\w.-]*\w)+)$/;

/** The files that lines name and the world has not: without them a program ends before it does anything. */
function operandsOf(lines: readonly string[], { folder }: EffectWorld): Readonly<Record<string, string>> {
  const words = lines.flatMap((line) => line.split(/[\s;|&<>()"'`=]+/)).filter((word) => OPERAND.test(word));
  const isFolder = (word: string): boolean => words.some((other) => other.startsWith(`${word}/`));
  const absent = words.filter((word) => !existsSync(join(folder, "project", word)) && !isFolder(word));
  return Object.fromEntries(absent.map((word) => [word, TEXT]));
}

async function effectsOf(lines: readonly string[], world: EffectWorld, options: ObserveOptions): Promise<readonly string[]> {
  const files = operandsOf(lines, world);
  // Each in a shell of its own: one that ends or replaces its shell ends no other.
  const command = lines.length === 1 ? (lines[0] ?? "") : lines.map((line) => `(${line}\n)`).join("\n");
  const seen = listEffects(await observeEffects(command, world, { files, ...options }));
  return seen.map(({ effect, what }) => `${effect}: ${what}`);
}

/** Finds the lines that have effects: where a run of many has one, its halves are run again. */
export async function findEffects(lines: readonly string[], world: EffectWorld, options: ObserveOptions = {}): Promise<Found> {
  const effects = await effectsOf(lines, world, options);
  const [only, ...others] = lines;
  if (effects.length === 0 || only === undefined) return new Map();
  if (others.length === 0) return effects.every((effect) => isMeant(only, effect)) ? new Map() : new Map([[only, effects]]);
  const half = Math.ceil(lines.length / 2);
  const found = [await findEffects(lines.slice(0, half), world, options), await findEffects(lines.slice(half), world, options)];
  return new Map(found.flatMap((one) => [...one]));
}

/** Cuts a list into parts of at most `size`. */
export function partsOf<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}
