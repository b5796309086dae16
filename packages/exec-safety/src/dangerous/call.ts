/**
 * Call: a program with its arguments as the dangerous walk sees it, and how rules ask about them.
 * Everything is read generously: an abbreviated option, a cluster of letters, an option behind the
 * operands.
 */
import type { Span, Word } from "../parse/tree.js";
import type { Feed, Source } from "./feed.js";
import { kindOf, type PathKind, type Site } from "./site.js";

/**
 * One argument, after everything that the shell puts in its place. What is not known of it is
 * {@link UNKNOWN} or {@link UNSET}.
 */
export interface Field extends Word {
  readonly text: string;
  /** Where its first letters come from: what runs, if it is run. */
  readonly lead: Source;
  /** The most suspicious source of any of its letters. */
  readonly worst: Source;
  /** Whether credentials are in it. */
  readonly isSecret: boolean;
  /** What is behind the pipe of `<(…)`. */
  readonly stream?: Feed;
}

/** A program, its arguments, its input and where it runs. */
export interface Call {
  /** Base name, in lower case where only that is known. */
  readonly name: string;
  readonly args: readonly Field[];
  readonly input: Feed;
  readonly site: Site;
}

/** A field of known text. */
export function fieldOf(text: string, span: Span): Field {
  return { text, raw: text, pieces: [], span, lead: "text", worst: "text", isSecret: false };
}

/** From the first to the last of the fields. */
export function spanOfFields(fields: readonly Field[]): Span {
  const start = fields[0]?.span.start ?? 0;
  return { start, end: fields.reduce((most, { span }) => Math.max(most, span.end), start) };
}

/**
 * Whether an option is given: one of the letters in any cluster, or one of the long names,
 * abbreviated or not.
 */
export function hasFlag(call: Call, letters: string, longs: readonly string[] = []): boolean {
  for (const { text } of call.args) {
    if (text === "--") return false;
    if (text.length > 2 && text.startsWith("--")) {
      const name = text.slice(2).split("=", 1)[0] ?? "";
      if (longs.some((long) => long.startsWith(name))) return true;
    } else if (text.length > 1 && text.startsWith("-") && letters !== "") {
      for (let at = 1; at < text.length; at += 1)
        if (letters.includes(text.charAt(at))) return true;
    }
  }
  return false;
}

/** Arguments that are no options; `valued` are letters of options that take the next argument. */
export function operandsOf(call: Call, valued = ""): readonly Field[] {
  const operands: Field[] = [];
  let isOptions = true;
  for (let at = 0; at < call.args.length; at += 1) {
    const field = call.args[at];
    if (field === undefined) break;
    const { text } = field;
    if (!isOptions || !text.startsWith("-") || text === "-") operands.push(field);
    else if (text === "--") isOptions = false;
    else if (!text.startsWith("--") && valued.includes(text.charAt(text.length - 1))) at += 1;
  }
  return operands;
}

/** The value of an option: `-o x`, `-ox`, `--output x`, `--output=x`. */
export function optionValue(call: Call, letter: string, long?: string): Field | undefined {
  for (const [at, field] of call.args.entries()) {
    const { text } = field;
    if (text === "--") return undefined;
    if (long !== undefined && text === `--${long}`) return call.args[at + 1];
    if (long !== undefined && text.startsWith(`--${long}=`))
      return { ...field, text: text.slice(long.length + 3) };
    if (letter === "" || !text.startsWith("-") || text.startsWith("--")) continue;
    const place = text.indexOf(letter, 1);
    if (place > 0)
      return place === text.length - 1
        ? call.args[at + 1]
        : { ...field, text: text.slice(place + 1) };
  }
  return undefined;
}

/** Whether one of the fields names a place of one of the kinds. */
export function someKind(
  call: Call,
  fields: readonly Field[],
  kinds: readonly PathKind[],
): boolean {
  return fields.some(({ text }) => kinds.includes(kindOf(text, call.site)));
}

/** The first operand, in lower case: the subcommand of programs that have one. */
export function verbsOf(call: Call, valued = ""): readonly string[] {
  return operandsOf(call, valued).map(({ text }) => text.toLowerCase());
}
