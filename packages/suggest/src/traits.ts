/**
 * Traits: how far a suggestion may open an argument, from its name and its values. Data and tests
 * on it. Pure.
 */
import { listed, wordsOf } from "./bars.js";
import type { Leaf } from "./leaves.js";

/**
 * `exact`: the approved value and no other, since it says what is done. `path`: a directory at
 * most. `address`: one host at most. `free`: any text, if need be.
 */
export type Trait = "exact" | "path" | "address" | "free";

/** Names of arguments that hold what is run. */
const CODE_WORDS: ReadonlySet<string> = listed(
  "command commands cmd script code sql program expression expr eval shell exec statement",
  "argv args env environment",
);
/** The same, unless the tool only reads. */
const QUERY_WORDS: ReadonlySet<string> = listed("query queries filter where");
/** Names of arguments that choose what a tool does, how, to whom, or for whom. */
const CHOICE_WORDS: ReadonlySet<string> = listed(
  "action operation op mode method verb type kind event state status force recursive flags",
  "permission permissions role roles visibility access scope scopes public private",
  "to cc bcc recipient recipients email emails host hostname domain port",
);
const PATH_WORDS: ReadonlySet<string> = listed(
  "path paths file files filename filepath dir directory directories folder folders cwd root",
  "source src destination dest target",
);
const ADDRESS_WORDS: ReadonlySet<string> = listed("url urls uri uris href link endpoint webhook");
const ADDRESS = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//;
/** Names of arguments that hold what people or programs read, whatever it looks like. */
const PROSE_WORDS: ReadonlySet<string> = listed(
  "content contents text body title subject summary description note notes message comment reason",
);
const PATH_LIKE = /^(?:~[^\s/]*\/|\.{0,2}\/)|^\S*\/\S*$/;
const PATH_CHARS_MAX = 4_096;

/** The trait of an argument. */
export function traitOf(
  { path, values }: Pick<Leaf, "path" | "values">,
  isReading: boolean,
): Trait {
  const words = wordsOf(path.at(-1) ?? "");
  const has = (known: ReadonlySet<string>): boolean => words.some((word) => known.has(word));
  const texts = values.filter((value) => typeof value === "string");
  if (
    has(CODE_WORDS) ||
    (!isReading && has(QUERY_WORDS)) ||
    values.some((value) => typeof value === "boolean")
  )
    return "exact";
  if (has(ADDRESS_WORDS)) return "address";
  if (has(PATH_WORDS) && texts.length > 0) return "path";
  if (has(PROSE_WORDS)) return "free";
  if (texts.some((text) => ADDRESS.test(text))) return "address";
  if (texts.some((text) => text.length <= PATH_CHARS_MAX && PATH_LIKE.test(text))) return "path";
  return has(CHOICE_WORDS) ? "exact" : "free";
}
