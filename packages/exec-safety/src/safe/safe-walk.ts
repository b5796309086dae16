/**
 * Safe walk: proves that a command line only reads. It goes through every kind of node; what it
 * does not know needs a person. It never says `dangerous`: that is the other walk's word.
 */
import { shown } from "../text/shown.js";
import { mayNotEnd } from "./endless-loops.js";
import { judgeWord, judgeWords } from "./judge-word.js";
import { judgeTest } from "./judge-test.js";
import { changesInput, listedNames, printedNames, selectNames } from "./names.js";
import { checkGlob } from "./paths.js";
import { judgeRedirects } from "./judge-redirects.js";
import { stableValues } from "./assignments.js";
import type { ArgumentValue } from "./argument.js";
import { resolveArguments } from "./resolve-arguments.js";
import { judgeCommand } from "./simple-command.js";
import { countsOnly, hidesAddresses, passesOn } from "./reach/output.js";
import {
  CAUGHT,
  after,
  either,
  join,
  joinVariables,
  withInput,
  withInputOf,
  withOutput,
  withPlaces,
  withVariable,
} from "./state.js";
import type { Outcome, Output, State } from "./state.js";
import type { Node, Redirect, Script, Word } from "../parse/tree.js";
import { canSet } from "./variables.js";
import { nodesOf, visitNodes } from "../parse/visit.js";
import { syntax } from "./walk.js";
import type { Walk } from "./walk.js";

/** Reports everything that keeps a script from being proven safe. */
export function safeWalk(parts: WalkParts, script: Script, start: State): void {
  judgeNode(walkOf(parts), start, script.body);
}

type WalkParts = Omit<Walk, "script">;

function walkOf(parts: WalkParts): Walk {
  const walk: Walk = {
    ...parts,
    script: (inner, state) => void judgeNode(walk, withOutput(state, CAUGHT), inner.body),
  };
  return walk;
}

/**
 * The walk of a job in the background, which an entry of an allowlist does not lift: it may outlive
 * its command.
 */
const unlisted = (walk: Walk): Walk => walkOf({ ...walk, allowlist: undefined });

function judgeNode(walk: Walk, state: State, node: Node): Outcome {
  switch (node.type) {
    case "command":
      return judgeCommand(walk, state, node);
    case "sequence":
      return judgeSequence(walk, state, node);
    case "pipeline":
      return judgePipeline(walk, state, node);
    case "prefixed": {
      const { ok, failed } = judgeNode(walk, state, node.body);
      return node.prefix === "!" ? { ok: failed, failed: ok } : { ok, failed };
    }
    case "group": {
      const outcome = judgeNode(
        node.kind === "background" ? unlisted(walk) : walk,
        state,
        node.body,
      );
      return node.kind === "braces" ? outcome : either(state);
    }
    case "redirected":
      return judgeRedirected(walk, state, node);
    case "if":
      return judgeIf(walk, state, node.parts);
    case "while":
      return judgeWhile(walk, state, node);
    case "for":
      return judgeFor(walk, state, node);
    case "case":
      return judgeCase(walk, state, node);
    case "test":
      judgeTest(walk, state, node);
      return either(state);
    case "refused":
      return judgeRefused(walk, state, node);
    default:
      return node satisfies never;
  }
}

type Kind<T extends Node["type"]> = Extract<Node, { readonly type: T }>;

function judgeSequence(walk: Walk, start: State, { items, operators }: Kind<"sequence">): Outcome {
  let outcome = either(start);
  for (const [index, item] of items.entries()) {
    const operator = index === 0 ? ";" : operators[index - 1];
    const before =
      operator === "&&" ? outcome.ok : operator === "||" ? outcome.failed : after(outcome);
    // INVARIANT: what is never reached is judged all the same.
    const next = judgeNode(walk, before ?? start, item);
    outcome = before === undefined ? outcome : chained(outcome, next, operator);
  }
  return outcome;
}

function chained(before: Outcome, next: Outcome, operator: string | undefined): Outcome {
  if (operator === "&&") return { ok: next.ok, failed: join(before.failed, next.failed) };
  return operator === "||" ? { ok: join(before.ok, next.ok), failed: next.failed } : next;
}

/**
 * Each stage runs in a shell of its own; only where `lastpipe` is set do the last one's variables
 * stay, so that both are followed.
 */
function judgePipeline(
  walk: Walk,
  state: State,
  { stages, mergesErrors, span }: Kind<"pipeline">,
): Outcome {
  if (mergesErrors)
    walk.report(syntax("pipe.errors", span, "`|&` feeds errors into the next command as well"));
  let { input, variables } = state;
  for (const [index, stage] of stages.entries()) {
    const behindIt = stages.slice(index + 1);
    const output = outputOf(behindIt, state.output);
    const behind = after(
      judgeNode(walk, withOutput(withInput(state, input, index > 0 || state.isFed), output), stage),
    );
    const passedOn = index > 0 ? selectNames(stage, input) : undefined;
    input = mergesErrors || passesOn(behindIt) ? undefined : (listedNames(stage) ?? passedOn);
    if (behind !== undefined) variables = joinVariables(variables, behind.variables);
  }
  return either(variables === state.variables ? state : { ...state, variables });
}

/** Where the output of a stage goes, by the stages behind it. */
function outputOf(behindIt: readonly Node[], output: Output): Output {
  if (behindIt.length === 0) return output;
  return {
    isShown: !countsOnly(behindIt, output.isShown),
    hidesAddresses: hidesAddresses(behindIt),
    isCaught: true,
  };
}

function judgeRedirected(
  walk: Walk,
  state: State,
  { body, redirects }: Kind<"redirected">,
): Outcome {
  const inner = judgeRedirects(walk, state, redirects);
  return withInputOf(
    state,
    judgeNode(walk, withInput(inner, namesFed(redirects) ?? inner.input), body),
  );
}

/** The names that `< <(…)` feeds. */
function namesFed(redirects: readonly Redirect[]): State["input"] {
  const inputs = redirects.filter(changesInput);
  const [piece, ...others] = inputs.length === 1 ? (inputs[0]?.target?.pieces ?? []) : [];
  return others.length === 0 && piece?.kind === "script" && piece.form === "read"
    ? printedNames(piece.script)
    : undefined;
}

/** Conditions and branches in turns; a last one without a condition is the `else`. */
function judgeIf(walk: Walk, start: State, parts: readonly Node[]): Outcome {
  let state: State | undefined = start;
  let end: State | undefined;
  for (let index = 0; index < parts.length; index += 2) {
    const [part, branch] = [parts[index], parts[index + 1]];
    if (part === undefined) break;
    const outcome = judgeNode(walk, state ?? start, part);
    const next = branch === undefined ? outcome : judgeNode(walk, outcome.ok ?? start, branch);
    const isReached = state !== undefined && (branch === undefined || outcome.ok !== undefined);
    end = join(end, isReached ? after(next) : undefined);
    state = branch === undefined || state === undefined ? undefined : outcome.failed;
  }
  const last = join(end, state);
  return { ok: last, failed: last };
}

function judgeWhile(walk: Walk, state: State, loop: Kind<"while">): Outcome {
  const { condition, body, span } = loop;
  if (mayNotEnd(loop))
    walk.report(syntax("loop.endless", span, "nothing in this loop is known to end it"));
  judgeJobs(walk, condition);
  judgeJobs(walk, body);
  const entry = loopState(state, [condition, body]);
  const behind = after(judgeNode(walk, entry, condition));
  const end = after(judgeNode(walk, behind ?? entry, body));
  return either(join(join(entry, behind), end) ?? entry);
}

function judgeFor(walk: Walk, state: State, { name, words, body, span }: Kind<"for">): Outcome {
  if (!canSet(name))
    walk.report(
      syntax(
        "assignment.name",
        span,
        `${shown(name)} may mean something to the shell or to programs`,
      ),
    );
  judgeWords(walk, state, words ?? []);
  for (const argument of resolveArguments(words ?? [], state.variables))
    for (const place of state.places) checkGlob(argument, place, walk.report);
  judgeJobs(walk, body);
  const entry = loopState(state, [body]);
  const end = after(
    judgeNode(
      walk,
      withVariable(entry, name, words === undefined ? undefined : loopValues(words, state)),
      body,
    ),
  );
  return either(join(withVariable(entry, name, undefined), end) ?? entry);
}

/** Values of a loop's variable that are followed; beyond it they are not known. */
const LOOP_VALUES_MAX = 32;

/** Everything that the words of a loop can be. */
function loopValues(
  words: readonly Word[],
  { variables }: State,
): readonly ArgumentValue[] | undefined {
  const values: ArgumentValue[] = [];
  for (const word of words) {
    const next = stableValues(word, variables);
    if (next === undefined || values.length + next.length > LOOP_VALUES_MAX) return undefined;
    values.push(...next);
  }
  return values;
}

/** A job that is left behind in each round may be one of any number. */
function judgeJobs(walk: Walk, body: Script["body"]): void {
  visitNodes({ span: body.span, body }, (node) => {
    if (node.type === "group" && node.kind === "background")
      walk.report(
        syntax(
          "loop.background",
          node.span,
          "each round of the loop leaves a background job behind",
        ),
      );
  });
}

/** What is known at the start of every round: nothing about what a round itself changes. */
function loopState(state: State, parts: readonly Node[]): State {
  let entry = state;
  let moves = false;
  const visit = (node: Node): void => {
    if (node.type === "command") {
      for (const { name } of node.assignments) entry = withVariable(entry, name, undefined);
      const texts = node.words.map(({ text }) => text);
      if (texts.includes("cd") || texts.includes("pushd") || texts.includes("popd")) moves = true;
      if (texts.includes("read"))
        for (const text of texts)
          if (text !== undefined && canSet(text)) entry = withVariable(entry, text, undefined);
    } else if (node.type === "for") entry = withVariable(entry, node.name, undefined);
    // These have a shell of their own.
    if (node.type === "pipeline" || (node.type === "group" && node.kind !== "braces")) return;
    for (const inner of nodesOf(node)) visit(inner);
  };
  for (const part of parts) visit(part);
  return moves
    ? withPlaces(
        entry,
        entry.places.slice(0, 1).map((place) => ({ ...place, inside: undefined })),
      )
    : entry;
}

function judgeCase(walk: Walk, state: State, { word, patterns, bodies }: Kind<"case">): Outcome {
  judgeWord(walk, state, word);
  judgeWords(walk, state, patterns);
  let end: State | undefined = state;
  // `;&` goes on with the next body.
  for (const body of bodies) end = join(end, after(judgeNode(walk, end ?? state, body)));
  return either(end ?? state);
}

/** Never safe; what is below it still gets its reasons. */
function judgeRefused(
  walk: Walk,
  state: State,
  { what, construct, span, body, words }: Kind<"refused">,
): Outcome {
  walk.report(syntax(`syntax.${construct}`, span, `${what} is not followed`));
  for (const inner of body) judgeNode(walk, state, inner);
  judgeWords(walk, state, words);
  return either(state);
}
