/** Mistakes: everything that is wrong with a file that people write, as one error. */
import { ConsentError } from "../errors.js";
import type { Subject } from "./spot.js";

/** Nobody reads on after so many; a reader that has found them may stop. */
export const MISTAKES_MAX = 100;
/** Mistakes that one error names; the others are counted. */
const NAMED_MAX = 10;

/**
 * The only mistake; or an error with the place and suggestion of the first one in the file, whose
 * text names the first ten in their order and counts the others. Its `cause` is an AggregateError
 * with all of them.
 */
export function asOneError(
  mistakes: readonly ConsentError[],
  { name, code }: Subject,
): ConsentError {
  const sorted = [...mistakes].sort(byPlace);
  const [first, ...others] = sorted;
  if (first === undefined) return new ConsentError(code, `Cannot load ${name}`);
  if (others.length === 0) return first;
  const start = `Cannot load ${name} `; // the further ones do not repeat it
  const named = others
    .slice(0, NAMED_MAX - 1)
    .map(({ message }) => (message.startsWith(start) ? message.slice(start.length) : message));
  const left = others.length - named.length;
  if (left > 0) named.push(`${sorted.length < MISTAKES_MAX ? "" : "at least "}${left} more`);
  const { position, path, suggestion } = first;
  return new ConsentError(code, [first.message, ...named].join("; and "), {
    ...(position !== undefined && { position }),
    ...(path !== undefined && { path }),
    ...(suggestion !== undefined && { suggestion }),
    cause: new AggregateError(sorted, `Cannot load ${name}`),
  });
}

function byPlace({ position: a }: ConsentError, { position: b }: ConsentError): number {
  const lines = (a?.line ?? 0) - (b?.line ?? 0);
  return lines === 0 ? (a?.column ?? 0) - (b?.column ?? 0) : lines;
}
