/**
 * Simple command: judges one program with its arguments, behind wrappers that add nothing of their
 * own.
 */
import { shown } from "../text/shown.js";
import type { Argument, ProgramCall } from "./argument.js";
import { judgeAssignments, judgePrefix } from "./assignments.js";
import { judgeProgram } from "../tables/judge.js";
import { changeDirectory, withUnknownPlace } from "./change-directory.js";
import { review } from "../findings.js";
import type { Finding, Report } from "../findings.js";
import { judgeWords } from "./judge-word.js";
import { canLift } from "./lifting.js";
import { WRAPPER_DEPTH_MAX } from "../config/limits.js";
import { PATCH_PROGRAMS, judgePatch } from "./patch.js";
import { checkGlob } from "./paths.js";
import { changesInput, printedNames } from "./names.js";
import { judgeRedirects } from "./judge-redirects.js";
import { resolveArguments } from "./resolve-arguments.js";
import { either, withInputOf, withVariable } from "./state.js";
import type { Outcome, State } from "./state.js";
import type { Command, Span, Word } from "../parse/tree.js";
import { readNamesOf } from "./read-names.js";
import type { ReadCall } from "./read-names.js";
import { eachAlone } from "./torn-names.js";
import { canSet } from "./variables.js";
import type { Walk } from "./walk.js";
import { SHELL_WRAPPERS, unwrap } from "../parse/wrappers.js";
import { readXargs } from "./xargs.js";

/** Judges a simple command; says what is known behind it. */
export function judgeCommand(walk: Walk, state: State, command: Command): Outcome {
  const { assignments, words, redirects } = command;
  if (words.length === 0) {
    const set = judgeAssignments(walk, state, assignments);
    judgeRedirects(walk, set, redirects);
    return either(set);
  }
  if (assignments.length > 0) judgePrefix(walk, state, command);
  judgeWords(walk, state, words);
  const behind = judgeRedirects(walk, state, redirects);
  const outcome = judgeCall(walk, behind, { command, words, isOfShell: true, depth: 0 });
  // A redirection holds for its command only.
  return behind === state ? outcome : withInputOf(state, outcome);
}

interface Call {
  readonly command: Command;
  readonly words: readonly Word[];
  /** Whether the shell itself runs it, so that its builtins count. */
  readonly isOfShell: boolean;
  /** Whether it was given by the path of the system's program; an allowlist names programs. */
  readonly isByPath?: true;
  /** Wrappers around it. */
  readonly depth: number;
}

function judgeCall(walk: Walk, state: State, given: Call): Outcome {
  const call = named(given);
  const { words, depth } = call;
  const program = programOf(words[0], state);
  if (typeof program !== "string") {
    walk.report(program);
    return either(state);
  }
  const wrapped = program === "xargs" ? undefined : unwrap(words);
  if (wrapped === undefined) return judgeArguments(walk, state, call);
  const span = spanOf(words);
  if (depth >= WRAPPER_DEPTH_MAX) {
    walk.report(
      review("safe-binaries", {
        ruleId: "wrapper.depth",
        span,
        message: "too many programs that run another one",
      }),
    );
    return either(state);
  }
  if (wrapped.isTransparent) {
    const isOfShell = call.isOfShell && SHELL_WRAPPERS.has(program);
    return judgeCall(walk, state, {
      command: call.command,
      words: wrapped.tail,
      isOfShell,
      depth: depth + 1,
    });
  }
  if (wrapped.tail.length === 0 && wrapped.script === undefined)
    return judgeArguments(walk, state, call);
  walk.report(
    review("safe-binaries", {
      ruleId: "wrapper.runs",
      span,
      message: `\`${program}\` runs another command in its own way`,
    }),
  );
  return either(state);
}

/**
 * Folders of the system's own programs, which only an administrator changes: `/usr/local/bin` is
 * none, for people install there.
 */
const SYSTEM_PROGRAM = /^\/(?:usr\/)?s?bin\/([^/]+)$/;

/**
 * The call under the program's name where its path is that of the system's own: no builtin of the
 * shell then.
 */
function named(call: Call): Call {
  const [word, ...others] = call.words;
  const text = SYSTEM_PROGRAM.exec(word?.text ?? "")?.[1];
  if (word === undefined || text === undefined) return call;
  const { raw, span } = word;
  // Bare, the name has a place of its own, behind which an option can be put.
  const start = raw === word.text ? span.end - text.length : span.start;
  return {
    ...call,
    words: [{ ...word, text, span: { start, end: span.end } }, ...others],
    isOfShell: false,
    isByPath: true,
  };
}

/** The program's name, where it is one that is known. */
function programOf(word: Word | undefined, { places }: State): string | Finding {
  const name = word?.text;
  const span = word?.span ?? NOWHERE;
  if (name === undefined) {
    return review("shell-syntax", {
      ruleId: "program.dynamic",
      span,
      message: `which program ${shown(word?.raw ?? "")} is will be known only when it runs`,
    });
  }
  // A relative name is another file behind a `cd`.
  if (name.includes("/") && !places.every(({ inside }) => inside === "")) {
    return review("safe-binaries", {
      ruleId: "program.path",
      span,
      message: `${shown(name)} is a program given by its path, whatever is in that file`,
    });
  }
  if (!/^(?:[A-Za-z0-9_./][A-Za-z0-9_./+-]*|\[|:)$/.test(name)) {
    return review("shell-syntax", {
      ruleId: "program.name",
      span,
      message: `${shown(name)} is no ordinary name of a program`,
    });
  }
  return name;
}

function judgeArguments(walk: Walk, state: State, call: Call): Outcome {
  const { words, isOfShell } = call;
  const program = words[0]?.text ?? "";
  const args = resolveArguments(words.slice(1), state.variables, printedNames);
  const span = spanOf(words);
  if (isOfShell && (program === "cd" || program === "pushd"))
    return changeDirectory(walk, state, { args, span });
  if (PATCH_PROGRAMS.has(program)) {
    for (const place of state.places)
      judgePatch(patchOf(call.command, args), place, { report: walk.report, span });
    return either(state);
  }
  if (isOfShell && program === "popd" && args.length === 0)
    return { ok: withUnknownPlace(state), failed: state };
  const input = inputOf(call.command.redirects);
  judgeOrLift(walk, state, {
    call,
    programCall: { program, args, span, ...(input === undefined ? {} : { input }) },
  });
  if (!isOfShell) return either(state);
  if (program === "read")
    return either(readVariables(walk, state, { args, word: words[0], command: call.command }));
  return program === "exit" && args.length <= 1 && args.every(({ isOne }) => isOne)
    ? { ok: undefined, failed: undefined }
    : either(state);
}

/**
 * The text that a call of `apply_patch` gets, where it is known: its only argument, or its only
 * here-document.
 */
function patchOf({ redirects }: Command, args: readonly Argument[]): string | undefined {
  const [argument, ...others] = args;
  if (argument !== undefined)
    return others.length === 0 && argument.values?.length === 1
      ? argument.values[0]?.text
      : undefined;
  return inputOf(redirects);
}

/**
 * The text that stands in the command for a program's input: its only redirection is a
 * here-document, and holds nothing to expand.
 */
function inputOf(redirects: Command["redirects"]): string | undefined {
  const inputs = redirects.filter(changesInput);
  const [input] = inputs;
  return inputs.length === 1
    ? (input?.body ?? (input?.operator === "<<<" ? input.target : undefined))?.text
    : undefined;
}

/** Asks the tables; then, where they only do not know it, the allowlist. */
function judgeOrLift(
  walk: Walk,
  state: State,
  { call, programCall }: { readonly call: Call; readonly programCall: ProgramCall },
): void {
  const findings: Finding[] = [];
  const report: Report = (finding) => void findings.push(finding);
  const target =
    programCall.program === "xargs" ? readXargs(programCall, state.input) : programCall;
  const { output, isFed } = state;
  for (const place of state.places)
    for (const argument of programCall.args) checkGlob(argument, place, report);
  if ("ruleId" in target) report(target);
  else
    for (const place of state.places)
      judgeProgram(target, place, { extra: walk.extra, report, isFed, ...output });
  if (findings.length === 0) return;
  const argv =
    walk.allowlist === undefined || call.isByPath === true
      ? undefined
      : canLift(findings, programCall, state.places);
  const pattern =
    argv === undefined || walk.allowlist === undefined ? undefined : walk.allowlist.find(argv);
  if (pattern === undefined) for (const finding of findings) walk.report(finding);
  else walk.lifted.set(call.command, pattern);
}

/** `read` sets variables to what it reads. */
function readVariables(walk: Walk, start: State, { args, word, command }: ReadCall): State {
  const names = readNames(args);
  if (names === undefined) {
    const message = "`read` sets a variable that may mean something to the shell or to programs";
    walk.report(
      review("shell-syntax", { ruleId: "read.name", span: args[0]?.span ?? NOWHERE, message }),
    );
    return start;
  }
  // One variable gets the line as it is; several get parts of it.
  const values =
    names.length === 1 && start.input !== undefined
      ? readNamesOf(start.input, { args, word, command })
      : undefined;
  return names.reduce(
    (state, name) =>
      withVariable(state, name, values === undefined ? undefined : eachAlone(values)),
    start,
  );
}

const NOWHERE: Span = { start: 0, end: 0 };

/** The variables that `read` sets, where all of them may be set. */
function readNames(args: readonly Argument[]): readonly string[] | undefined {
  const names: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const values = args[at]?.values;
    const text = values?.length === 1 ? values[0]?.text : undefined;
    if (text === undefined) return undefined;
    if (text.startsWith("-")) at += /[dinNptu]$/.test(text) ? 1 : 0;
    else if (canSet(text)) names.push(text);
    else return undefined;
  }
  return names;
}

function spanOf(words: readonly Word[]): Span {
  return { start: words[0]?.span.start ?? 0, end: words.at(-1)?.span.end ?? 0 };
}
