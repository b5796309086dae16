/**
 * Judge: whether a call of a program is proven to only read. What it reports is why it is not;
 * reporting nothing means safe. Never says `dangerous`, never throws.
 */
import { globsMeet } from "../secrets/name-glob.js";
import { textOf } from "../safe/argument.js";
import type { Argument, ProgramCall } from "../safe/argument.js";
import type { Report } from "../findings.js";
import type { RunPlace } from "../config/run-place.js";
import type { Output } from "../safe/state.js";
import { BINARIES } from "./binaries.js";
import { checkAddresses } from "./git-addresses.js";
import { checkRepository } from "./git-repository.js";
import { say } from "./judged-call.js";
import type { JudgedCall } from "./judged-call.js";
import { grammarOf } from "./grammar.js";
import type { Flag, Grammar, Operands } from "./flag.js";
import type { Why } from "./table.js";
import { judgeInline } from "./inline.js";
import { LOOSE_KINDS, checkKind } from "./kinds.js";
import { checkReach } from "../safe/reach/reach.js";
import { asksLoopbackOnly } from "./loopback.js";
import { reportMaybeFlag, scan } from "./scan.js";
import { SHOWS_VERSION } from "./shows-version.js";
import type { Binary, BinaryTable } from "./table.js";
import { judgeTestCommand } from "./test-expression.js";

/** What the programs of {@link SHOWS_VERSION} answer without doing anything else. */
const VERSION: ReadonlySet<string> = new Set(["--version", "--help"]);
const UNASKED: Why = {
  topic: "unknown",
  text: "is known to only read with certain flags, none of which is here",
};

/** What a judgement needs beside the call and its place. */
export interface JudgeOptions extends Output {
  /** Programs beside the built-in ones, which it cannot replace. */
  readonly extra: BinaryTable | undefined;
  readonly report: Report;
  /** Whether its input comes from a pipe or a file. */
  readonly isFed: boolean;
}

/** Reports everything that keeps a call from being proven safe. */
export function judgeProgram(call: ProgramCall, place: RunPlace, options: JudgeOptions): void {
  const { program, args, span } = call;
  const { extra, ...rest } = options;
  const of: JudgedCall = { program, name: program, place, span, ...rest };
  if (program === "test" || program === "[") return judgeTestCommand({ program, args, span }, of);
  if (program === "git") checkRepository({ args, span }, of);
  if (judgeInline(call, of) || asksLoopbackOnly(call, place)) return;
  const binary = entryOf(BINARIES, program);
  if (binary !== undefined)
    return SHOWS_VERSION.has(program) && asksOnly(VERSION, args)
      ? undefined
      : judgeEntry(binary, args, of);
  const ours = entryOf(extra, program);
  if (ours !== undefined) return judgeExtra(ours, args, of);
  const text = "is an unknown program: it is not on the list of programs known to only read";
  say({ ...of, program: "program" }, { topic: "unknown", text }, of);
}

/** An entry of the caller, which parseBinaryTable() may not have seen. */
function judgeExtra(binary: Binary, args: readonly Argument[], of: JudgedCall): void {
  try {
    judgeEntry(binary, args, of);
  } catch {
    say(of, { topic: "read", text: "has an entry in the extra programs that cannot be read" }, of);
  }
}

/** Whether the call has one argument, which asks for a version or the like. */
function asksOnly(words: ReadonlySet<string>, args: readonly Argument[]): boolean {
  const [value, ...values] = args[0]?.values ?? [];
  return (
    args.length === 1 && values.length === 0 && value?.isGlob === false && words.has(value.text)
  );
}

function entryOf(table: BinaryTable | undefined, name: string): Binary | undefined {
  return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
}

function judgeEntry(binary: Binary, args: readonly Argument[], of: JudgedCall): void {
  const grammar = grammarOf(binary);
  if (binary.obeysWorkspace === true && !of.place.trustedWorkspace)
    say(
      of,
      {
        topic: "exec",
        text: "runs what the project's own configuration names, and this workspace is not trusted",
      },
      of,
    );
  if (binary.takesCommands === true && of.place.noInput !== true)
    say(
      of,
      {
        topic: "exec",
        text: "takes commands from a terminal or from its input, and some of them run programs",
      },
      of,
    );
  if (binary.pagesUnless !== undefined) checkPager(binary.pagesUnless, args, of);
  if (binary.readsArgumentFiles === true)
    for (const argument of args) checkArgumentFile(argument, of);
  if (asksOnly(grammar.alone, args)) return;
  if (binary.subcommands !== undefined && judgeSubcommand(grammar, args, of)) return;
  const why = grammar.review ?? missingFlag(grammar, args, of);
  if (why !== undefined) say(of, why, of);
  const isLenient = why !== undefined;
  const found = scan(args, { grammar, of }, { stopsAtOperand: false, isLenient });
  const operands = operandsFor(grammar, found.given);
  if (!isLenient && found.isSure) {
    checkOperands(operands, found.operands, { grammar, of });
    checkReach({ args, found, wanted: operands, grammar }, of);
    if (of.program === "git") checkAddresses(args, found, of);
  }
  if (isLenient || !found.isSure)
    for (const [index, operand] of found.operands.entries())
      checkLoosely(operands, { operand, index }, of);
  if (!isLenient) checkSilence(binary, found.given, { grammar, of });
}

/**
 * Reports a call that shows long output in a pager, where somebody may type, with the flag that it
 * needs.
 */
function checkPager(flag: string, args: readonly Argument[], of: JudgedCall): void {
  // The guards of git name its pager.
  const isGuarded = of.program === "git" && of.place.isGuarded === true;
  if (
    of.place.atTerminal !== true ||
    isGuarded ||
    of.isCaught ||
    args.some((argument) => textOf(argument) === flag)
  )
    return;
  const text = `shows long output in a pager, which takes commands from the terminal that run programs, unless it is given ${flag}`;
  const edit = {
    at: of.span.start + of.program.length,
    behind: of.program,
    text: ` ${flag}`,
    reason: `keeps ${of.program} from starting a pager`,
  };
  say(of, { topic: "exec", text }, { ...of, edits: [edit] });
}

/** Reports a call that asks the network about itself, with the flag that it needs. */
function checkSilence(
  { silentWith }: Binary,
  given: ReadonlySet<Flag>,
  { grammar, of }: { readonly grammar: Grammar; readonly of: JudgedCall },
): void {
  if (silentWith === undefined || of.place.isGuarded === true) return;
  const flag = grammar.flags.get(silentWith);
  if (flag !== undefined && given.has(flag)) return;
  const edits = [
    {
      at: of.span.start + of.name.length,
      behind: of.name,
      text: ` ${silentWith}`,
      reason: `keeps ${of.program} from asking the network for a newer version of itself`,
    },
  ];
  say(
    of,
    {
      topic: "network",
      text: `asks the network for a newer version of itself, unless it is given ${silentWith}`,
    },
    { ...of, edits },
  );
}

/** `@x` is read as more arguments wherever it stands, behind `--` as well. */
function checkArgumentFile({ values, leading, raw, span }: Argument, of: JudgedCall): void {
  const isOne =
    values?.some(({ text, isGlob }) => (isGlob ? globsMeet(text, "@*") : text.startsWith("@"))) ??
    /^@?$/.test(leading);
  if (isOne)
    say(
      of,
      { topic: "exec", text: "may be a file of more arguments, which run code or show the file" },
      { span, what: raw },
    );
}

/** Where it is not known which operand is which, only what no entry of an allowlist may lift. */
function checkLoosely(
  { first, rest }: Operands,
  { operand, index }: { readonly operand: Argument; readonly index: number },
  of: JudgedCall,
): void {
  const kind = first[index] ?? rest;
  if (kind !== undefined && LOOSE_KINDS.has(kind)) checkKind(kind, operand, of);
  checkUrl(operand, of);
}

/** Git runs the program that an address like `ext::sh -c …` names, whatever the subcommand. */
function checkUrl(operand: Argument, of: JudgedCall): void {
  if (operand.values?.some(({ text }) => /^(?:ext|fd)::/.test(text)) === true)
    say(
      of,
      { topic: "exec", text: "names a program to run in place of an address" },
      { span: operand.span, what: operand.raw },
    );
}

/** The case for a first look, whose findings count only when the arguments are scanned again. */
function silent(of: JudgedCall): JudgedCall {
  return { ...of, report: () => undefined };
}

/** Whether the call was one of a subcommand, or of one that is not known; then it is judged. */
function judgeSubcommand(grammar: Grammar, args: readonly Argument[], of: JudgedCall): boolean {
  const { binary } = grammar;
  const plain = subcommandOf(binary, args[0]);
  if (plain !== undefined) {
    judgeEntry(plain.binary, args.slice(1), plain.under(of));
    return true;
  }
  const { operands, given, isSure } = scan(
    args,
    { grammar, of: silent(of) },
    { stopsAtOperand: true, isLenient: false },
  );
  const [first, ...rest] = operands;
  const subcommand = subcommandOf(binary, first);
  const ownForm = binary.operands !== undefined || binary.review !== undefined;
  if (subcommand === undefined && (ownForm || (first === undefined && given.size > 0)))
    return false;
  scan(
    args.slice(0, args.length - operands.length),
    { grammar, of },
    { stopsAtOperand: true, isLenient: false },
  );
  if (subcommand !== undefined) judgeEntry(subcommand.binary, rest, subcommand.under(of));
  else if (first === undefined)
    say(of, { topic: "unknown", text: "without a subcommand is not known to only read" }, of);
  else {
    const what = `${of.name} ${first.raw}`;
    say(
      of,
      { topic: "unknown", text: `is not on the list of subcommands known to only read` },
      { span: first.span, what },
    );
    scan(rest, { grammar, of }, { stopsAtOperand: false, isLenient: true });
  }
  if (subcommand === undefined || !isSure) judgeLaterSubcommands(binary, rest, of);
  return true;
}

/** Words behind the first that are looked at. */
const LATER_MAX = 16;

/**
 * `pnpm --filter x exec y`, `yarn workspace x exec y`: where a flag may have had a value, or a word
 * leads to others, each later word may be it.
 */
function judgeLaterSubcommands(binary: Binary, args: readonly Argument[], of: JudgedCall): void {
  for (const [index, argument] of args.slice(0, LATER_MAX).entries()) {
    const later = subcommandOf(binary, argument);
    if (later?.binary.review !== undefined)
      judgeEntry(later.binary, args.slice(index + 1), later.under(of));
  }
}

/** The subcommand that an argument names for sure. */
function subcommandOf(
  { subcommands }: Binary,
  argument: Argument | undefined,
): { readonly binary: Binary; under(of: JudgedCall): JudgedCall } | undefined {
  const [value, ...others] = argument?.values ?? [];
  if (value === undefined || others.length > 0 || value.isGlob) return undefined;
  const binary = entryOf(subcommands, value.text);
  if (binary === undefined) return undefined;
  const { text } = value;
  return { binary, under: (of) => ({ ...of, name: `${of.name} ${text}` }) };
}

/** Why it is reviewed where none of the flags is there that it needs to only read. */
function missingFlag(grammar: Grammar, args: readonly Argument[], of: JudgedCall): Why | undefined {
  const { requires, otherwise } = grammar;
  if (requires.size === 0) return undefined;
  const { given } = scan(
    args,
    { grammar, of: silent(of) },
    { stopsAtOperand: false, isLenient: true },
  );
  return [...requires].some((flag) => given.has(flag)) ? undefined : (otherwise ?? UNASKED);
}

function operandsFor(grammar: Grammar, given: ReadonlySet<Flag>): Operands {
  for (const [flag, operands] of grammar.operandsWith) if (given.has(flag)) return operands;
  return grammar.operands;
}

function checkOperands(
  wanted: Operands,
  operands: readonly Argument[],
  { grammar, of }: { readonly grammar: Grammar; readonly of: JudgedCall },
): void {
  // Behind a glob it is not known which operand is which: each has to be without harm as any that
  // it may be.
  const glob = operands.findIndex(isSeveral);
  if (operands.length < wanted.min && glob < 0)
    say(of, { topic: "unknown", text: "has fewer arguments than it needs to only read" }, of);
  for (const [index, operand] of operands.entries()) {
    const kind = wanted.first[index] ?? wanted.rest;
    const others = glob < 0 || index < glob ? [] : wanted.first.slice(index + 1);
    if (wanted.rest !== undefined) for (const other of others) checkKind(other, operand, of);
    // A glob stands for any number of operands: the second file that it finds would be the output
    // of `uniq`.
    if (kind === undefined || (wanted.rest === undefined && isSeveral(operand))) {
      say(
        of,
        grammar.excess ?? {
          topic: "unknown",
          text: "is an argument more than it may have to only read",
        },
        excessAt(operand, of, grammar),
      );
    } else if (operand.isOne || operand.values !== undefined || isTextFrom(wanted, index))
      checkKind(kind, operand, of);
    else reportMaybeFlag(of, operand);
  }
}

function isSeveral({ isQuoted, values }: Argument): boolean {
  return isQuoted !== true && values?.some(({ isGlob }) => isGlob) === true;
}

/** Whether everything from an operand on is text, so that it may become several. */
function isTextFrom({ first, rest }: Operands, index: number): boolean {
  return rest === "text" && first.slice(index).every((kind) => kind === "text");
}

function excessAt(
  operand: Argument,
  of: JudgedCall,
  { excess }: Grammar,
): { readonly span: JudgedCall["span"]; readonly what: string } {
  return { span: operand.span, what: excess === undefined ? operand.raw : of.name };
}
