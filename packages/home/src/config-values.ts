/** Config, values: the kinds of value that several sections share. */
import { ConsentError } from "@acp/core";
import { type Spot, invalid, readText } from "@acp/core/yaml";
import { type PathOrigins, resolvePath } from "./paths.js";

const PATH_CHARS_MAX = 4_096;
const URL_CHARS_MAX = 8_192;
/** The longest argument or variable that Linux hands to a program. */
export const SECRET_CHARS_MAX = 131_072;

/** An entry that must be there. */
export function required(spot: Spot, entries: ReadonlyMap<string, Spot>, key: string): Spot {
  const found = entries.get(key);
  if (found === undefined) throw invalid(spot, `"${key}" is missing`);
  return found;
}

/** What `read` makes of an entry, where there is one. */
export function ifGiven<T>(spot: Spot | undefined, read: (spot: Spot) => T): T | undefined {
  return spot === undefined ? undefined : read(spot);
}

/** An absolute path; `~/` and relative paths start at the origins. */
export function readPath(spot: Spot, origins: PathOrigins): string {
  const text = readText(spot, PATH_CHARS_MAX);
  try {
    return resolvePath(text, origins);
  } catch (cause) {
    throw invalid(spot, cause instanceof ConsentError ? cause.message : "it is no path", { cause });
  }
}

/** An http or https URL. */
export function readUrl(spot: Spot): string {
  const text = readText(spot, URL_CHARS_MAX);
  if (!URL.canParse(text)) throw invalid(spot, "it is not a URL");
  const { protocol, username, password } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:")
    throw invalid(spot, "it is not an http or https URL");
  if (username !== "" || password !== "")
    throw invalid(spot, "a URL must not hold a name or password");
  return text;
}

/** Any text without NUL, the empty one too, that no error shows: it may be a secret. */
export function readOpaque(spot: Spot): string {
  const { value } = spot;
  if (typeof value !== "string") throw invalid(spot, "expected a text; put it in quotes");
  if (value.length > SECRET_CHARS_MAX)
    throw invalid(spot, `the text has more than ${SECRET_CHARS_MAX} characters`);
  if (value.includes("\0")) throw invalid(spot, "the text has a NUL character");
  return value;
}

/** A secret: {@link readOpaque}, not empty. */
export function readSecret(spot: Spot): string {
  const secret = readOpaque(spot);
  if (secret === "") throw invalid(spot, "the text is empty");
  return secret;
}
