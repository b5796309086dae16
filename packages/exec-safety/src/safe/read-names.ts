/**
 * Read names: what `read` makes of a list of names. It keeps a name whole only with `-r` and
 * `IFS=`: it takes backslashes and the blanks at both ends out of a line otherwise, so that `
 * /etc/x.ts` and `x.p\\em` become other files.
 */
import { textOf } from "./argument.js";
import type { Argument, ArgumentValue } from "./argument.js";
import type { Edit } from "../findings.js";
import { takeApart } from "./torn-names.js";
import type { Command, Word } from "../parse/tree.js";

/** A call of `read`. */
export interface ReadCall {
  readonly args: readonly Argument[];
  readonly word: Word | undefined;
  readonly command: Command;
}

interface Reading {
  readonly isRaw: boolean;
  /** Whether blanks at both ends stay. */
  readonly isUntrimmed: boolean;
  /** What ends a name; `part`: it may be anywhere in it. */
  readonly end: "line" | "nul" | "part";
}

/** What its only variable can be. */
export function readNamesOf(
  input: readonly ArgumentValue[],
  call: ReadCall,
): readonly ArgumentValue[] {
  const reading = readingOf(call);
  const { isRaw, isUntrimmed, end } = reading;
  const cut = isRaw && isUntrimmed && end !== "part" ? end : "blank";
  return takeApart(input, cut, end === "part" ? undefined : atNul(call.word, reading));
}

function readingOf({ args, command }: ReadCall): Reading {
  let end: Reading["end"] = "line";
  let isRaw = false;
  for (let at = 0; at < args.length; at += 1) {
    const option = textOf(args[at]) ?? "-";
    if (!option.startsWith("-")) continue;
    // Others end somewhere else, as `-n 4` does, or read from somewhere else.
    const known = /^-[rs]*(?<valued>[dp]?)$/.exec(option);
    if (known === null || option === "-") end = "part";
    isRaw ||= option.includes("r");
    const valued = known?.groups?.["valued"];
    if (valued === undefined || valued === "") continue;
    at += 1;
    if (valued === "d" && end !== "part") end = textOf(args[at]) === "" ? "nul" : "part";
  }
  const isUntrimmed =
    command.assignments.findLast(({ name }) => name === "IFS")?.value?.text === "";
  return { isRaw, isUntrimmed, end };
}

/** The edits that make it end at NUL and leave the rest as it is. */
function atNul(
  word: Word | undefined,
  { isRaw, isUntrimmed, end }: Reading,
): readonly Edit[] | undefined {
  if (word === undefined) return undefined;
  const options = `${isRaw ? "" : " -r"}${end === "nul" ? "" : " -d ''"}`;
  return [
    ...(options === "" ? [] : [{ at: word.span.end, behind: word.raw, text: options }]),
    ...(isUntrimmed ? [] : [{ at: word.span.start, behind: " ", text: "IFS= " }]),
  ];
}
