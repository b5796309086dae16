/**
 * Lifting: what an entry of the operator's allowlist may clear. Only a program or an argument that
 * is merely not on our list; never a way to run another program, a file outside, a secret, settings
 * that run programs later, or anything that is not known before it runs.
 */
import type { ArgumentValue, ProgramCall } from "./argument.js";
import type { Finding } from "../findings.js";
import { isVerbOfHarm, namesHarm } from "./harm-by-name.js";
import { pathProblem, resolveInside } from "./paths.js";
import type { RunPlace } from "../config/run-place.js";
import { isRunLater } from "./run-later.js";

/**
 * The command's words for the allowlist, or undefined where no entry may lift what was found about
 * it.
 */
export function canLift(
  findings: readonly Finding[],
  call: ProgramCall,
  places: readonly RunPlace[],
): readonly string[] | undefined {
  if (findings.some(({ isLiftable }) => isLiftable !== true)) return undefined;
  // Nothing is known of the program but what its flags are called.
  const isUnknown = findings.every(({ ruleId }) => ruleId.endsWith(".unknown"));
  if (isUnknown && firstWordOf(call).some(isVerbOfHarm)) return undefined;
  const argv = [call.program];
  for (const { values, isOne, leading } of call.args) {
    const [value, ...others] = values ?? [];
    if (value === undefined || others.length > 0 || !isOne) return undefined;
    // A name that a glob finds could be a flag.
    if (value.isGlob && leading === "") return undefined;
    const paths = pathsIn(value.text);
    if (paths === undefined) return undefined;
    if (REDIRECTS.test(value.text) || (isUnknown && namesHarm(value.text))) return undefined;
    if (places.some((place) => paths.some((text) => isBarred({ ...value, text }, place))))
      return undefined;
    argv.push(value.text);
  }
  return argv;
}

/**
 * Flags that take packages from elsewhere, or reach it another way; package managers take every
 * setting as one.
 */
const REDIRECTS = /^--?[^=]*(?:registry|index-url|proxy)/i;

/** The first argument that is no flag, where it is known. */
function firstWordOf({ args }: ProgramCall): readonly string[] {
  const texts = args.map(({ values }) => values?.[0]?.text ?? "");
  return texts.filter((text) => !text.startsWith("-")).slice(0, 1);
}

/** Whether a path is outside, a secret, or one whose content runs later. */
function isBarred(value: ArgumentValue, place: RunPlace): boolean {
  return (
    pathProblem(value, place) !== undefined ||
    isRunLater(resolveInside(value.text, place) ?? value.text)
  );
}

/** Parts of one argument that could be paths: no ordinary one has more. */
const PARTS_MAX = 16;

/**
 * What of an argument could be a path: all of it, and what stands behind `=`, `@`, `:`, `,` or a
 * short flag. Undefined: too much.
 */
function pathsIn(text: string): readonly string[] | undefined {
  // `-t.claude`, and `-at.claude` behind another letter.
  const cluster = /^-[A-Za-z0-9]+(?=[/~.])/.exec(text)?.[0] ?? "";
  const paths = [text, ...(cluster === "" ? [] : [text.slice(cluster.length)])];
  for (let at = 0; at < text.length; at += 1) {
    if (!/[=@:,]/.test(text.charAt(at)) || text.startsWith("://", at)) continue;
    paths.push(text.slice(at + 1));
    if (paths.length > PARTS_MAX) return undefined;
  }
  return paths;
}
