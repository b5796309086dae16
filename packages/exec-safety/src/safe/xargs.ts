/**
 * xargs: runs a program with arguments that it reads. Safe only for a few programs, and as if they
 * had those arguments written out.
 */
import { shown } from "../text/shown.js";
import { textOf } from "./argument.js";
import type { Argument, ArgumentValue, ProgramCall } from "./argument.js";
import { review } from "../findings.js";
import type { Edit, Finding } from "../findings.js";
import { eachAlone, takeApart } from "./torn-names.js";
import type { Cut } from "./torn-names.js";

/** Programs that only read whatever arguments of theirs come from elsewhere. */
const TAILS: ReadonlySet<string> = new Set(
  "wc grep egrep fgrep rg ls cat head tail basename dirname stat file echo printf du realpath readlink md5sum sha1sum sha256sum sha512sum cksum jq sed awk sort nl cut tac".split(
    " ",
  ),
);

interface Options {
  /** Where the command begins. */
  readonly end: number;
  /** What stands for an argument that is read. */
  readonly mark: string | undefined;
  /** Where it takes its input apart. */
  readonly cut: Cut;
  /** Whether each call gets all that there is room for. */
  readonly isAll: boolean;
}

/**
 * The call that xargs makes, with what it reads written out as far as it is known; or why it needs
 * a person.
 */
export function readXargs(
  { span, args }: ProgramCall,
  input: readonly ArgumentValue[] | undefined,
): ProgramCall | Finding {
  const options = readOptions(args);
  if (options === undefined)
    return review("safe-binaries", {
      ruleId: "xargs.option",
      span,
      message: "this option of `xargs` is not followed",
    });
  const { end, mark, cut, isAll } = options;
  const program = end < args.length ? textOf(args[end]) : "echo";
  // The mark is replaced in the program's name as well.
  if (
    program === undefined ||
    !TAILS.has(program) ||
    (mark !== undefined && program.includes(mark))
  ) {
    return review("safe-binaries", {
      ruleId: "xargs.run",
      span,
      message: `\`xargs\` runs ${program === undefined ? "a program" : shown(program)} with arguments that it reads`,
    });
  }
  const parts = input === undefined ? undefined : takeApart(input, cut, atNul({ span, cut }));
  const values = parts === undefined || isAll ? parts : eachAlone(parts);
  const read: Argument = {
    span,
    raw: "…",
    leading: "",
    isOne: false,
    ...(values === undefined ? {} : { values, isOne: true }),
  };
  const own = args.slice(end + 1);
  if (mark === undefined) return { span, program, args: [...own, read] };
  return { span, program, args: own.map((arg) => fill(arg, mark, read)) };
}

/** The edit that makes it take its input apart at NUL, unless it is told where. */
function atNul({ span, cut }: Pick<ProgramCall, "span"> & Pick<Options, "cut">): readonly Edit[] {
  return cut === "nul" ? [] : [{ at: span.start + "xargs".length, behind: "xargs", text: " -0" }];
}

function readOptions(args: readonly Argument[]): Options | undefined {
  let mark: string | undefined;
  let cut: Cut = "blank";
  let isAll = true;
  let at = 0;
  const optionsUpTo = (end: number): Options => ({ end, mark, cut, isAll });
  while (at < args.length) {
    const option = textOf(args[at]);
    if (option === undefined)
      return args[at]?.leading.startsWith("-") === false && args[at]?.leading !== ""
        ? optionsUpTo(at)
        : undefined;
    if (option === "--") return optionsUpTo(at + 1);
    if (!option.startsWith("-") || option === "-") return optionsUpTo(at);
    const value = textOf(args[at + 1]);
    if (
      /^(?:-[0rt]+|--null|--no-run-if-empty|-[nPL]\d{1,6}|--max-(?:args|procs|lines)=\d{1,6}|-d(?:\\n|\\0|\n))$/.test(
        option,
      )
    )
      at += 1;
    else if (/^-[0r]*[nPL]$/.test(option) && value !== undefined && /^\d{1,6}$/.test(value))
      at += 2;
    else if (option === "-d" && value !== undefined && /^(?:\\[n0t]|[\n\t,:;| ])$/.test(value))
      at += 2;
    else if (/^-[0r]*I$/.test(option) && value !== undefined && value !== "") {
      mark = value;
      at += 2;
    } else if (/^-I.+$/.test(option)) {
      mark = option.slice(2);
      at += 1;
    } else return undefined;
    cut = cutBy(option, { value, cut });
    isAll &&= !/^-[0r]*[nLI]|^--max-(?:args|lines)/.test(option);
  }
  return optionsUpTo(at);
}

/**
 * Where an option makes it take its input apart; the last one counts. `-I` takes lines, and out of
 * them quotes, backslashes and first blanks.
 */
function cutBy(
  option: string,
  { value, cut }: { readonly value: string | undefined; readonly cut: Cut },
): Cut {
  if (/^-[rt]*0|^--null$/.test(option)) return "nul";
  if (!option.startsWith("-d")) return cut;
  const letter = option === "-d" ? value : option.slice(2);
  if (letter === "\\0") return "nul";
  return letter === "\\n" || letter === "\n" ? "line" : "blank";
}

/** An argument with what is read in place of the mark. */
function fill(argument: Argument, mark: string, read: Argument): Argument {
  if (
    !argument.raw.includes(mark) &&
    argument.values?.some(({ text }) => text.includes(mark)) !== true
  )
    return argument;
  const { span, raw, values, leading } = argument;
  const start = leading.split(mark)[0] ?? "";
  const names = read.values;
  if (names === undefined || values === undefined)
    return { span, raw, leading: start, isOne: true };
  const filled = values.flatMap(({ text }) =>
    names.map((name): ArgumentValue => {
      const { isTorn } = name;
      return text === mark
        ? name
        : {
            text: text.split(mark).join(name.text),
            isGlob: true,
            ...(isTorn === true && { isTorn }),
          };
    }),
  );
  return { span, raw, values: filled, leading: start, isOne: true };
}
