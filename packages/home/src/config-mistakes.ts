/** Config, mistakes: everything that is wrong with a file, as one error. */
import { ConsentError } from "@acp/core";

/** Mistakes that one error names; the others are counted. */
const NAMED_MAX = 10;

/**
 * Returns the only mistake; or an error with the place and suggestion of the first one in the file,
 * whose text names them all in their order.
 */
export function asOneError(mistakes: readonly ConsentError[]): ConsentError {
  const [first, ...others] = mistakes.toSorted(byPlace);
  if (first === undefined) return new ConsentError("config_invalid", "Cannot load config");
  if (others.length === 0) return first;
  const named = others.slice(0, NAMED_MAX - 1).map(({ message }) => withoutSubject(message));
  const left = others.length - named.length;
  const rest = left === 0 ? named : [...named, `${left} more`];
  const { position, path, suggestion } = first;
  return new ConsentError(first.code, [first.message, ...rest].join("; and "), {
    ...(position !== undefined && { position }),
    ...(path !== undefined && { path }),
    ...(suggestion !== undefined && { suggestion }),
    cause: first,
  });
}

function byPlace({ position: a }: ConsentError, { position: b }: ConsentError): number {
  const lines = (a?.line ?? 0) - (b?.line ?? 0);
  return lines === 0 ? (a?.column ?? 0) - (b?.column ?? 0) : lines;
}

/** The further ones do not repeat what cannot be loaded. */
function withoutSubject(message: string): string {
  return message.replace(/^Cannot load config /, "");
}
