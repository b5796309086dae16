/// <reference lib="es2024.string" />
/**
 * Narrowing: the narrowest pattern of the policy language that covers what was approved of one
 * argument, and what it lets through besides, in words. Pure.
 */
import { quoteText } from "@acp/core";
import type { JsonValue } from "@acp/core";
import type { PathOrigins } from "@acp/core/policy";
import { GLOB_CHARS_MAX, hasWildcard } from "@acp/core/unstable";
import { saysTaking } from "./bars.js";
import type { Leaf, Scalar } from "./leaves.js";
import {
  commonPlace,
  directoryText,
  isBounded,
  placeOf,
  placePattern,
  placeText,
} from "./places.js";
import type { Trait } from "./traits.js";

/** A pattern for one argument. */
export interface ArgumentPattern {
  /** As the policy writes it; left out where the rule does not name the argument. */
  readonly pattern?: JsonValue;
  /** What it covers, in words. */
  readonly covers: string;
  /** How narrow it is: one value; a part of what could be; everything. */
  readonly width: "exact" | "part" | "any";
  /** Whether it depends on the working directory of whoever judges. */
  readonly isRelative?: boolean;
}

/** Why there is no pattern for an argument. */
export interface NoPattern {
  readonly problem: string;
}

/** Values in words are cut; the rule holds them whole. */
const SHOWN_CHARS_MAX = 60;
/** A beginning or an end that is shorter is chance. */
const AFFIX_CHARS_MIN = 3;
const AFFIX_CHARS_MAX = 120;
// A rule may hold tabs and line breaks, and no other control character.
const UNWRITABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
const ORIGIN = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#\\@\s*]+\//;
const ONE_WORD = /^[A-Za-z][A-Za-z_-]{1,30}$/;
const NO_LETTER_OR_DIGIT = /[^\p{L}\p{N}]/u;

const shown = (text: string): string =>
  quoteText(text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text);
const show = (value: Scalar): string => (typeof value === "string" ? shown(value) : String(value));

/** What patterns are made for. */
export interface NarrowContext {
  readonly origins: PathOrigins;
  /** True for a rule that allows: then some places are too wide for any pattern. */
  readonly grants: boolean;
}

/** The narrowest pattern that covers every value of an argument. */
export function narrow(
  leaf: Leaf,
  trait: Trait,
  context: NarrowContext,
): ArgumentPattern | NoPattern {
  const { values, hasGaps } = leaf;
  if (hasGaps)
    return trait === "free"
      ? { covers: "anything, or nothing", width: "any" }
      : { problem: "it was not always given" };
  const [only, ...more] = values;
  if (only === undefined) return { covers: "anything, or nothing", width: "any" };
  if (
    context.grants &&
    more.length === 0 &&
    typeof only === "string" &&
    ONE_WORD.test(only) &&
    saysTaking(only)
  )
    return { problem: `it says ${shown(only)}` };
  const one = more.length === 0 ? exactly(only) : undefined;
  if (one !== undefined) return one;
  switch (trait) {
    case "exact":
      return more.length === 0
        ? { problem: "no pattern can say its value and no other" }
        : { problem: `it says what is done, and it had ${values.length} different values` };
    case "path":
      return narrowPaths(values, context);
    case "address":
      return narrowAddresses(values);
    case "free":
      return narrowTexts(values);
    default:
      return trait satisfies never;
  }
}

/** The pattern that only this value matches. */
function exactly(value: Scalar): ArgumentPattern | undefined {
  if (typeof value === "string" && (hasWildcard(value) || !isWritable(value))) return undefined;
  if (
    typeof value === "number" &&
    !(Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value)))
  )
    return undefined;
  return { pattern: value, covers: `only ${show(value)}`, width: "exact" };
}

const isWritable = (text: string): boolean =>
  text !== "" && text.length <= GLOB_CHARS_MAX && !UNWRITABLE.test(text);

function narrowPaths(
  values: readonly Scalar[],
  { origins, grants }: NarrowContext,
): ArgumentPattern | NoPattern {
  const places = values.flatMap((value) =>
    typeof value === "string" ? (placeOf(value, origins) ?? []) : [],
  );
  if (places.length < values.length)
    return { problem: "not every value of it is a path with one certain meaning" };
  const common = commonPlace(places);
  if (common === undefined)
    return {
      problem:
        "some of its paths start at the root, and some at a directory that the log does not name",
    };
  if (grants && !isBounded(common, origins))
    return { problem: "its paths have no directory in common that a rule should open" };
  const [pattern, directory] = [placePattern(common, origins), directoryText(common, origins)];
  if (pattern === undefined || directory === undefined)
    return { problem: "the directory of its paths has a name that would be read as a pattern" };
  return {
    pattern: { path: pattern },
    covers: placeText(common, quoteText(directory).slice(1, -1)),
    width: "part",
    ...(common.base === "." ? { isRelative: true } : {}),
  };
}

/**
 * Everything at one origin: a path of an address can go up again, so a longer beginning would
 * promise too much.
 */
function narrowAddresses(values: readonly Scalar[]): ArgumentPattern | NoPattern {
  const starts = new Set(
    values.map((value) => (typeof value === "string" ? ORIGIN.exec(value)?.[0] : undefined)),
  );
  const [origin] = starts;
  if (origin === undefined || starts.size > 1)
    return { problem: "its addresses have no host in common" };
  return {
    pattern: `${origin}*`,
    covers: `every address that begins with ${shown(origin)}`,
    width: "part",
  };
}

function narrowTexts(values: readonly Scalar[]): ArgumentPattern {
  const texts = values.filter((value) => typeof value === "string");
  const [prefix, suffix] =
    texts.length < values.length || texts.length < 2 ? ["", ""] : affixesOf(texts);
  if (prefix === "" && suffix === "")
    return { pattern: "*", covers: "every text and number", width: "any" };
  const words = [
    ...(prefix === "" ? [] : [`begins with ${shown(prefix)}`]),
    ...(suffix === "" ? [] : [`ends with ${shown(suffix)}`]),
  ];
  return {
    pattern: `${prefix}*${suffix}`,
    covers: `every text that ${words.join(" and ")}`,
    width: "part",
  };
}

/**
 * What texts begin and end with alike, up to the last and from the first character that is no part
 * of a word.
 */
function affixesOf(texts: readonly string[]): readonly [prefix: string, suffix: string] {
  const shortest = texts.reduce((least, text) => (text.length < least.length ? text : least));
  let start = 0;
  while (start < shortest.length && texts.every((text) => text[start] === shortest[start])) start++;
  let end = 0;
  while (
    end < shortest.length - start &&
    texts.every((text) => text.at(-1 - end) === shortest.at(-1 - end))
  )
    end++;
  const first = shortest.slice(0, start);
  const last = shortest.slice(shortest.length - end);
  const cut = [...first].findLastIndex((character) => NO_LETTER_OR_DIGIT.test(character));
  const from = [...last].findIndex((character) => NO_LETTER_OR_DIGIT.test(character));
  return [
    usable([...first].slice(0, cut + 1).join("")),
    usable(from < 0 ? "" : [...last].slice(from).join("")),
  ];
}

function usable(affix: string): string {
  const isFine =
    affix.length >= AFFIX_CHARS_MIN && affix.length <= AFFIX_CHARS_MAX && !hasWildcard(affix);
  return isFine && affix.isWellFormed() && !UNWRITABLE.test(affix) && !/[\r\n]/.test(affix)
    ? affix
    : "";
}
