/**
 * Change directory: where `cd` and `pushd` lead. Only to a folder of the project that is known and
 * none that configures tools that run programs.
 */
import { shown } from "../text/shown.js";
import type { Argument, ArgumentValue } from "./argument.js";
import { review } from "../findings.js";
import { pathProblem, resolveInside } from "./paths.js";
import { isRunLaterFolder } from "./run-later.js";
import type { RunPlace } from "../config/run-place.js";
import { joinPlaces, withPlaces } from "./state.js";
import type { Outcome, State } from "./state.js";
import type { Span } from "../parse/tree.js";
import type { Walk } from "./walk.js";

/** Judges `cd`; where it fails, everything stays as it was. */
export function changeDirectory(
  walk: Walk,
  state: State,
  call: { readonly args: readonly Argument[]; readonly span: Span },
): Outcome {
  const { args, span } = call;
  const values = folderOf(args);
  if (values === undefined) {
    walk.report(
      review("safe-binaries", {
        ruleId: "cd.unknown",
        span,
        message: "`cd` leads home, back, or to a folder that is not known before it runs",
      }),
    );
    return { ok: withUnknownPlace(state), failed: state };
  }
  let places: readonly RunPlace[] = [];
  for (const place of state.places) {
    for (const value of values) {
      const problem = folderProblem(value, place);
      if (problem !== undefined) walk.report(review("safe-binaries", { ...problem, span }));
      const inside = problem === undefined ? resolveInside(value.text, place) : undefined;
      places = joinPlaces(places, [{ ...place, inside }]);
    }
  }
  return { ok: withPlaces(state, places), failed: state };
}

/** The one folder that is named, as everything that it can be. */
function folderOf(args: readonly Argument[]): readonly ArgumentValue[] | undefined {
  let at = 0;
  while (/^-(?:[LPe]+|-)$/.test(args[at]?.leading ?? "") && args[at]?.values !== undefined) at += 1;
  const folder = args[at];
  if (folder === undefined || args.length > at + 1 || !folder.isOne) return undefined;
  const { values } = folder;
  return values === undefined ||
    values.length === 0 ||
    values.some(({ text, isTorn }) => isTorn === true || /^(?:$|[-+])/.test(text))
    ? undefined
    : values;
}

function folderProblem(
  value: ArgumentValue,
  place: RunPlace,
): { readonly ruleId: string; readonly message: string } | undefined {
  const problem = pathProblem(value, place);
  if (problem !== undefined) return { ruleId: "cd.outside", message: `\`cd\`: ${problem.message}` };
  if (resolveInside(value.text, place)?.split("/").some(isRunLaterFolder) !== true)
    return undefined;
  return {
    ruleId: "cd.settings",
    message: `\`cd\`: ${shown(value.text)} holds settings of tools that run programs`,
  };
}

/** The state where the directory is not known; all that the shell went to before was inside. */
export function withUnknownPlace(state: State): State {
  const [place] = state.places;
  return place === undefined ? state : withPlaces(state, [{ ...place, inside: undefined }]);
}
