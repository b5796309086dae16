/**
 * Patterns: every way of writing a secret's value that masking looks for besides escapes. Format:
 * spec/vault.md §6.
 */
import { type Automaton, buildAutomaton, type Pattern } from "./automaton.js";
import { SECRET_BYTES_MIN } from "../limits.js";
import { createSearch, type Search } from "./search.js";
import { revealSecret, type Secret, secretLabel } from "./secret.js";
import { hexWritingsOf, writingsOf } from "./writings.js";

/** An automaton, and the search that runs it. */
export interface Finder extends Pick<Automaton, "depth" | "reach"> {
  readonly search: Search;
}

/** What maskers of the same secrets share. Holds the values: never log it. */
export interface Masks {
  /** The value itself, and in base64 and UTF-16, also one over the other. */
  readonly plain: Finder;
  /** The value, and its other writings, in hex of either case. */
  readonly hex: Finder;
  /** What takes the place of each secret, as UTF-8. */
  readonly labels: readonly Uint8Array[];
  /** Whether a value has a blank, which forms write as `+`. */
  readonly hasBlank: boolean;
}

const SAME = Uint8Array.from({ length: 256 }, (_, byte) => byte);
const LOWER = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
);
const encoder = new TextEncoder();
const compiled = new WeakMap<readonly Secret[], Masks>();

/** The masks of a list of secrets; kept as long as the list itself. */
export function masksOf(secrets: readonly Secret[]): Masks {
  const known = compiled.get(secrets);
  if (known !== undefined) return known;
  const masks = compileMasks(secrets);
  if (Object.isFrozen(secrets)) compiled.set(secrets, masks);
  return masks;
}

function compileMasks(secrets: readonly Secret[]): Masks {
  const values = secrets.map((secret) => withoutMargins(revealSecret(secret)));
  const patterns = (
    write: (value: Uint8Array) => readonly Omit<Pattern, "label">[],
  ): readonly Pattern[] =>
    values.flatMap((value, label) => write(value).map((pattern) => ({ ...pattern, label })));
  return Object.freeze({
    plain: finderOf(patterns(writingsOf), SAME),
    hex: finderOf(patterns(hexWritingsOf), LOWER),
    labels: secrets.map(({ name }) => encoder.encode(secretLabel(name))),
    hasBlank: values.some((value) => value.includes(0x20)),
  });
}

function finderOf(patterns: readonly Pattern[], fold: Uint8Array): Finder {
  const automaton = buildAutomaton(patterns);
  return {
    depth: automaton.depth,
    reach: automaton.reach,
    search: createSearch(automaton, patterns, fold),
  };
}

/**
 * The bytes of a value without the blanks and line feeds around it: whoever is given a value may
 * cut them off.
 */
function withoutMargins(value: string): Uint8Array {
  const bytes = encoder.encode(value.trim());
  return bytes.length < SECRET_BYTES_MIN ? encoder.encode(value) : bytes;
}
