/**
 * Judge redirects: input may come from a project's file; output may go to nowhere or to another
 * stream.
 */
import { shown } from "../text/shown.js";
import { judgeWord } from "./judge-word.js";
import { changesInput } from "./names.js";
import { checkPath } from "./paths.js";
import { globMayNameSecret } from "./reach/choice.js";
import { resolveWord } from "./resolve-arguments.js";
import { withInput, withOutput } from "./state.js";
import type { State } from "./state.js";
import type { Redirect, Word } from "../parse/tree.js";
import { syntax } from "./walk.js";
import type { Walk } from "./walk.js";

const STREAMS: ReadonlySet<string> = new Set(["/dev/null", "/dev/stdout", "/dev/stderr"]);

/** Judges redirections; says with what state the command behind them runs. */
export function judgeRedirects(walk: Walk, state: State, redirects: readonly Redirect[]): State {
  if (redirects.length === 0) return state;
  for (const redirect of redirects) judgeRedirect(walk, state, redirect);
  const fed = redirects.some(changesInput) ? withInput(state, undefined) : state;
  const moving = redirects.filter(
    ({ descriptor, operator }) => descriptor !== 2 && !operator.startsWith("<"),
  );
  if (moving.length === 0) return fed;
  // Nothing takes anything out of what goes elsewhere; and only a file is no terminal.
  const isCaught = moving.every(({ target }) => target?.text === "/dev/null");
  return withOutput(fed, {
    isShown: redirects.reduce(showsAfter, state.output.isShown),
    hidesAddresses: false,
    isCaught,
  });
}

/** Whether the output is seen once it is redirected. */
function showsAfter(isShown: boolean, { operator, descriptor, target }: Redirect): boolean {
  if (!/^(?:&?>>?|>[|&])$/.test(operator) || (descriptor !== undefined && descriptor !== 1))
    return isShown;
  return target?.text !== "/dev/null";
}

function judgeRedirect(walk: Walk, state: State, redirect: Redirect): void {
  const { operator, target, body, span, descriptorName } = redirect;
  if (body !== undefined) judgeWord(walk, state, body);
  if (target !== undefined) judgeWord(walk, state, target);
  if (descriptorName !== undefined) {
    walk.report(
      syntax(
        "redirect.named",
        span,
        `\`{${descriptorName}}\` lets the shell choose the number of a stream and sets a variable`,
      ),
    );
    return;
  }
  switch (operator) {
    case "<<":
    case "<<-":
    case "<<<":
      return;
    case "<":
      judgeInput(walk, state, { redirect, target });
      return;
    case "<&":
    case ">&":
      if (isStream(target) || (operator === ">&" && isNowhere(target))) return;
      break;
    case ">":
    case ">>":
    case ">|":
    case "&>":
    case "&>>":
      if (isNowhere(target)) return;
      break;
    default:
      break;
  }
  walk.report(
    syntax(
      "redirect.file",
      span,
      `\`${operator}\` writes to ${target === undefined ? "a file" : shown(target.raw)}`,
    ),
  );
}

function judgeInput(
  walk: Walk,
  state: State,
  { redirect, target }: { readonly redirect: Redirect; readonly target: Word | undefined },
): void {
  const { span } = redirect;
  const values = target === undefined ? undefined : resolveWord(target, state.variables).values;
  if (values === undefined) {
    walk.report(
      syntax("redirect.unknown", span, "the file that is read is known only when the command runs"),
    );
    return;
  }
  for (const value of values)
    for (const place of state.places) checkPath(value, place, { report: walk.report, span });
  if (
    state.output.isShown &&
    values.some(
      ({ text, isGlob, isSifted }) => isGlob && isSifted !== true && globMayNameSecret(text),
    )
  )
    walk.report(
      syntax(
        "redirect.secret",
        span,
        `${shown(target?.raw ?? "")} may be a file that holds credentials`,
      ),
    );
}

/** The number of a stream, or `-` to close it. */
const isStream = (target: Word | undefined): boolean => /^(?:\d{1,3}|-)$/.test(target?.text ?? "");

const isNowhere = (target: Word | undefined): boolean => STREAMS.has(target?.text ?? "");
