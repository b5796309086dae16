/**
 * Assignments: alone they may set a variable without a meaning of its own; before a command only
 * what changes neither what it runs nor what it reads.
 */
import type { Variables } from "./argument.js";
import { shown } from "../text/shown.js";
import { isHarmlessVariable } from "../config/environment.js";
import { judgeWord, judgeWords } from "./judge-word.js";
import { printedNames } from "./names.js";
import { isPlace, resolveWord } from "./resolve-arguments.js";
import type { Reading } from "./resolve-arguments.js";
import type { ArgumentValue } from "./argument.js";
import { withVariable } from "./state.js";
import type { State } from "./state.js";
import type { Assignment, Command, Word } from "../parse/tree.js";
import { eachAlone } from "./torn-names.js";
import { canSet } from "./variables.js";
import { syntax } from "./walk.js";
import type { Walk } from "./walk.js";

/** Judges assignments that stand alone; says what is known behind them. */
export function judgeAssignments(
  walk: Walk,
  start: State,
  assignments: readonly Assignment[],
): State {
  let state = start;
  for (const assignment of assignments) {
    judgeParts(walk, state, assignment);
    const { name, value, span, isPlain } = assignment;
    if (!isPlain)
      walk.report(
        syntax(
          "assignment.array",
          span,
          `${shown(name)} is set in part or as a list, and its index is read as code`,
        ),
      );
    else if (!canSet(name))
      walk.report(
        syntax(
          "assignment.name",
          span,
          `${shown(name)} may mean something to the shell or to programs`,
        ),
      );
    state = withVariable(
      state,
      name,
      value === undefined ? undefined : stableValues(value, state.variables, { isKeptWhole: true }),
    );
  }
  return state;
}

/** Judges assignments before a command. */
export function judgePrefix(walk: Walk, state: State, { assignments, words }: Command): void {
  const program = words[0]?.text;
  for (const assignment of assignments) {
    judgeParts(walk, state, assignment);
    const { name, value, span, isPlain } = assignment;
    // `IFS= read line`: how `read` splits what it reads.
    if (isPlain && name === "IFS" && program === "read" && value?.text !== undefined) continue;
    if (isPlain && value?.text !== undefined && isHarmlessVariable(name, value.text)) continue;
    walk.report(
      syntax(
        "assignment.environment",
        span,
        `${shown(name)} changes the environment of the command`,
      ),
    );
  }
}

function judgeParts(walk: Walk, state: State, { value, others }: Assignment): void {
  if (value !== undefined) judgeWord(walk, state, value);
  judgeWords(walk, state, others);
}

/**
 * What a word can be, for use later in the same line. INVARIANT: the current directory stands as
 * `.` in a value's text, which would mean another folder behind the next `cd`; so a value made of
 * it is not known.
 */
export function stableValues(
  word: Word,
  variables: Variables,
  { isKeptWhole = false }: Pick<Reading, "isKeptWhole"> = {},
): readonly ArgumentValue[] | undefined {
  const { values } = word.pieces.some(isPlace)
    ? {}
    : resolveWord(word, variables, { printedNames, isKeptWhole });
  return values === undefined ? undefined : eachAlone(values);
}
