/**
 * Scan: goes through the arguments of a program by its grammar: which flags are given, what their
 * values are, which operands are left. Whatever the grammar does not know is reported, and so is an
 * argument that may be a flag or may not.
 */
import type { Argument, ArgumentValue } from "../safe/argument.js";
import { review } from "../findings.js";
import type { Edit } from "../findings.js";
import { say } from "./judged-call.js";
import type { JudgedCall } from "./judged-call.js";
import type { Flag, Grammar } from "./flag.js";
import { shown } from "../text/shown.js";
import { checkKind } from "./kinds.js";
import type { Kind } from "./kinds.js";
import { beginsAnyhow, mayNameFlag } from "./names-as-flags.js";

/** What was found. */
export interface Scan {
  readonly given: ReadonlySet<Flag>;
  readonly operands: readonly Argument[];
  /** Those of them that may turn out to be flags without harm of their own. */
  readonly maybeFlags: readonly Argument[];
  /** Values of flags, in order. */
  readonly values: readonly FlagValue[];
  /** Whether every flag was understood, so that the operands are the operands. */
  readonly isSure: boolean;
}

/** A value with its flag. */
export interface FlagValue {
  readonly flag: Flag;
  readonly kind: Kind;
  readonly argument: Argument;
}

/** How to go through them. */
export interface ScanOptions {
  /** Flags end at the first operand, which may be a subcommand. */
  readonly stopsAtOperand: boolean;
  /**
   * The call is reviewed in any case: unknown flags are no news, only those that nothing may lift.
   */
  readonly isLenient: boolean;
}

interface Scanner extends ScanOptions {
  readonly grammar: Grammar;
  readonly of: JudgedCall;
  readonly given: Set<Flag>;
  readonly operands: Argument[];
  readonly maybeFlags: Argument[];
  /** Values that the next arguments are. */
  readonly wanted: Omit<FlagValue, "argument">[];
  readonly values: FlagValue[];
  isOver: boolean;
  /** Over by `--end-of-options`: git refuses what looks like one behind it, but for `--`. */
  isEnded: boolean;
  isSure: boolean;
}

/**
 * Scans the arguments and reports what of the flags is not without harm. The operands are the
 * caller's to judge.
 */
export function scan(
  args: readonly Argument[],
  { grammar, of }: { readonly grammar: Grammar; readonly of: JudgedCall },
  options: ScanOptions,
): Scan {
  // Written out: spreading costs more than everything else here.
  const { stopsAtOperand, isLenient } = options;
  const start: Scanner = {
    stopsAtOperand,
    isLenient,
    grammar,
    of,
    given: new Set(),
    operands: [],
    maybeFlags: [],
    wanted: [],
    values: [],
    isOver: false,
    isEnded: false,
    isSure: true,
  };
  for (const argument of args) scanOne(start, argument);
  return start;
}

function scanOne(scanner: Scanner, argument: Argument): void {
  const { grammar, of, wanted } = scanner;
  const next = wanted.shift();
  if (next !== undefined) return checkNext(scanner, next, argument);
  if (scanner.isEnded && /^-(?!-$)/.test(argument.leading))
    return reportUnknownFlag(scanner, argument, argument.raw);
  if (scanner.isOver || grammar.binary.style === "text") return addOperand(scanner, argument);
  if (argument.values === undefined) return scanUnknown(scanner, argument);
  const [only, ...others] = argument.values;
  // What a glob finds behind `--include=` keeps that beginning.
  const isFixed = only?.isGlob === false || /^--[a-z-]+=/.test(argument.leading);
  if (only !== undefined && others.length === 0 && isFixed)
    return scanText(scanner, argument, only.text);
  // Each of several words, and each file that a glob names, may be one that looks like a flag.
  if (
    argument.values.every(({ text }) => !/^[-+]/.test(text) && !grammar.flags.has(text)) &&
    !namesFlag(scanner, argument)
  ) {
    if (argument.values.some(beginsAnyhow)) scanner.maybeFlags.push(argument);
    return addOperand(scanner, argument);
  }
  reportMaybeFlag(of, argument, grammar.flags.has(ENDS_OPTIONS));
}

/**
 * Behind it git takes everything for a revision or a path; since 2.24, and an older one refuses it.
 */
const ENDS_OPTIONS = "--end-of-options";

/** A value that is an argument of its own. */
function checkNext(
  scanner: Scanner,
  { flag, kind }: Omit<FlagValue, "argument">,
  argument: Argument,
): void {
  if (argument.isQuoted !== true && namesFlag(scanner, argument))
    return reportMaybeFlag(scanner.of, argument);
  checkValue(scanner, { flag, kind, argument });
  // All that a glob finds but the first name are operands.
  if (argument.isQuoted !== true && argument.values?.some(({ isGlob }) => isGlob) === true)
    scanner.operands.push(argument);
}

function namesFlag({ grammar, given, of }: Scanner, argument: Argument): boolean {
  return mayNameFlag(grammar, argument, { name: of.name, given });
}

function addOperand(scanner: Scanner, argument: Argument): void {
  scanner.operands.push(argument);
  if (scanner.stopsAtOperand || scanner.grammar.binary.style === "first") scanner.isOver = true;
}

/** An argument of which only the beginning is known, if that. */
function scanUnknown(scanner: Scanner, argument: Argument): void {
  const { grammar, of } = scanner;
  const { leading } = argument;
  if (!argument.isOne || leading === "" || leading === "-") return reportMaybeFlag(of, argument);
  if (!leading.startsWith("-")) {
    const mayLackDash =
      grammar.binary.style === "words" ||
      grammar.binary.style === "bare" ||
      leading.startsWith("+");
    if (mayLackDash) return reportMaybeFlag(of, argument);
    return addOperand(scanner, argument);
  }
  const equals = leading.indexOf("=");
  const isLong = leading.startsWith("--") || grammar.binary.style === "words";
  if (isLong && equals < 0) return reportMaybeFlag(of, argument);
  if (isLong) scanLong(scanner, argument, leading);
  else if (!scanCluster(scanner, argument, leading)) reportMaybeFlag(of, argument);
}

function scanText(scanner: Scanner, argument: Argument, text: string): void {
  const { grammar } = scanner;
  const { style } = grammar.binary;
  if (style === "words") {
    if (text.startsWith("-") || grammar.flags.has(text)) return scanLong(scanner, argument, text);
    return addOperand(scanner, argument);
  }
  if (text === "--") scanner.isOver = true;
  else if (text === ENDS_OPTIONS && grammar.flags.has(text))
    scanner.isOver = scanner.isEnded = true;
  else if (text.startsWith("--")) scanLong(scanner, argument, text);
  else if (text.startsWith("-") && text !== "-") scanCluster(scanner, argument, text);
  else if (style === "bare" && isBareCluster(grammar, text)) scanBare(scanner, argument, text);
  else addOperand(scanner, argument);
}

/** `--name`, `--name=value`, `-name` where flags are words. */
function scanLong(scanner: Scanner, argument: Argument, text: string): void {
  const { flags } = scanner.grammar;
  const equals = flags.has(text) ? -1 : text.indexOf("=");
  const name = equals < 0 ? text : text.slice(0, equals);
  const flag = flags.get(name);
  if (flag === undefined) return reportUnknownFlag(scanner, argument, name);
  give(scanner, flag, { argument, name });
  if (equals >= 0) {
    if (flag.value === "none") reportUnknownFlag(scanner, argument, text);
    else checkValue(scanner, { flag, kind: flag.kinds[0], argument: restOf(argument, equals + 1) });
  } else if (flag.value === "needed") want(scanner, flag);
}

/**
 * `-abc`, `-n5`, `-20`. Answers whether everything up to the end of what is known of it was read.
 */
function scanCluster(scanner: Scanner, argument: Argument, text: string): boolean {
  const { grammar } = scanner;
  if (grammar.takesNumbers && argument.values !== undefined && /^-\d+$/.test(text)) return true;
  if (text.length > 2 && grammar.flags.has(text)) {
    scanLong(scanner, argument, text);
    return argument.values !== undefined;
  }
  for (let index = 1; index < text.length; index += 1) {
    const name = `-${text.charAt(index)}`;
    const flag = grammar.flags.get(name);
    if (flag === undefined) {
      reportUnknownFlag(scanner, argument, name);
      continue;
    }
    give(scanner, flag, { argument, name });
    if (flag.value === "none") continue;
    if (grammar.binary.style === "apart" && flag.value === "needed") {
      want(scanner, flag);
      continue;
    }
    const isAttached = index + 1 < text.length || argument.values === undefined;
    const [kind] = flag.kinds;
    if (isAttached && kind === "processes" && !/^\d/.test(text.slice(index + 1)))
      reportUnknownFlag(scanner, argument, text);
    else if (isAttached) checkValue(scanner, { flag, kind, argument: restOf(argument, index + 1) });
    else if (flag.value === "needed") want(scanner, flag);
    return true;
  }
  return argument.values !== undefined;
}

function isBareCluster({ flags }: Grammar, text: string): boolean {
  return text !== "" && [...text].every((letter) => flags.has(letter));
}

/** `tvf` of `tar tvf x`: the values follow in order. */
function scanBare(scanner: Scanner, argument: Argument, text: string): void {
  for (const letter of text) {
    const flag = scanner.grammar.flags.get(letter);
    if (flag === undefined) continue;
    give(scanner, flag, { argument, name: letter });
    if (flag.value === "needed") want(scanner, flag);
  }
}

/** The next arguments are its values. */
function want({ wanted }: Scanner, flag: Flag): void {
  for (const kind of flag.kinds) wanted.push({ flag, kind });
}

function give(
  scanner: Scanner,
  flag: Flag,
  { argument, name }: { readonly argument: Argument; readonly name: string },
): void {
  const { of } = scanner;
  scanner.given.add(flag);
  if (flag.why !== undefined)
    say(of, flag.why, { span: argument.span, what: `${of.name} ${name}` });
}

function checkValue({ of, isLenient, values }: Scanner, value: FlagValue): void {
  const { kind, argument } = value;
  values.push(value);
  if (!argument.isOne) return reportMaybeFlag(of, argument);
  if (!isLenient) checkKind(kind, argument, of);
}

/** The part of an argument behind its flag. */
function restOf(argument: Argument, from: number): Argument {
  return {
    ...argument,
    leading: argument.leading.slice(from),
    ...(argument.values === undefined
      ? {}
      : { values: argument.values.map((value) => ({ ...value, text: value.text.slice(from) })) }),
  };
}

function reportUnknownFlag(scanner: Scanner, argument: Argument, name: string): void {
  const { grammar, of } = scanner;
  scanner.isSure = false;
  const attached = grammar.binary.style === "words" ? harmfulBefore(grammar, name) : undefined;
  if (attached?.flag.why !== undefined)
    return say(of, attached.flag.why, { span: argument.span, what: `${of.name} ${attached.name}` });
  const full =
    name.startsWith("--") && name.length > 2 ? harmfulBeginningWith(grammar, name) : undefined;
  if (full?.flag.why !== undefined) {
    const { topic, text } = full.flag.why;
    return say(
      of,
      { topic, text: `may be short for \`${full.name}\`, which ${text}` },
      { span: argument.span, what: `${of.name} ${name}` },
    );
  }
  if (scanner.isLenient) return;
  say(
    of,
    { topic: "unknown", text: "is not on the list of flags known to only read" },
    { span: argument.span, what: `${of.name} ${name}` },
  );
}

/** The flag whose value is attached to it: `-Dname=value` of `mvn`, `-Clinker=x` of `rustc`. */
function harmfulBefore(
  { flags }: Grammar,
  text: string,
): { readonly flag: Flag; readonly name: string } | undefined {
  for (const [name, flag] of flags)
    if (
      flag.why !== undefined &&
      flag.value !== "none" &&
      /^-[^-]/.test(name) &&
      text.startsWith(name)
    )
      return { flag, name };
  return undefined;
}

function harmfulBeginningWith(
  { flags }: Grammar,
  name: string,
): { readonly flag: Flag; readonly name: string } | undefined {
  for (const [full, flag] of flags)
    if (flag.why !== undefined && full.startsWith(name)) return { flag, name: full };
  return undefined;
}

/**
 * Reports an argument that may turn out to be something else than it looks like, with what would
 * keep it from it.
 */
export function reportMaybeFlag(of: JudgedCall, argument: Argument, canEnd = false): void {
  const { raw, span } = argument;
  const found = argument.values?.find(beginsAnyhow);
  const edits = found === undefined ? undefined : mendsOf(argument, found, canEnd);
  const finding = review("safe-binaries", {
    ruleId: "program.dynamic",
    span,
    message: maybeFlag(of, raw, found),
  });
  of.report(edits === undefined ? finding : { ...finding, edits });
}

function maybeFlag(of: JudgedCall, raw: string, found: ArgumentValue | undefined): string {
  if (found === undefined)
    return `${shown(raw)} may become a flag or several arguments of ${shown(of.name)} when the command runs`;
  if (raw.includes("$("))
    return `what ${shown(raw)} becomes may begin like a flag of ${shown(of.name)}`;
  return found.isTorn === true
    ? `a part of a file's name, behind a blank or a line break in it, may be a flag of ${shown(of.name)}`
    : `a file that ${shown(raw)} finds may have a flag of ${shown(of.name)} for its name: write ${shown(`./${found.text}`)}`;
}

/**
 * A glob gets `./`; what keeps a name whole keeps it from being a flag where it begins with a
 * folder.
 */
function mendsOf(
  { raw, span }: Argument,
  { text, whole }: ArgumentValue,
  canEnd: boolean,
): readonly Edit[] | undefined {
  if (whole !== undefined) return whole;
  if (canEnd && raw.includes("$("))
    return [
      {
        at: span.start,
        behind: " ",
        text: `${ENDS_OPTIONS} `,
        reason: "keeps git from reading the name of a tag or a branch as an option",
      },
    ];
  if (raw !== text) return undefined;
  // A blank stands before a word that is an argument; where something else does, the place is not
  // the one that was meant.
  return [
    {
      at: span.start,
      behind: " ",
      text: "./",
      reason: "puts `./` before names of files, so that none is read as a flag",
    },
  ];
}
