/**
 * Readings: the ways in which a program or a person may read one text. Case, composition,
 * compatibility forms, marks, characters that cannot be seen and look-alikes make many spellings of
 * what reads as one name. A rule that allows needs all readings, a rule that denies needs one.
 * Linear in the text. Pure as seen from outside. Format: spec/policy.md §5.
 */
import { replaceLookAlikes } from "./look-alikes.js";

/** Gives texts one spelling, so that what differs only in spelling compares equal. */
export type Fold = (text: string) => string;

/** Other than printable ASCII: that has one reading, and another one without case. */
const ODD = /[^\t\n\r -~]/;
/** Marks, and what is drawn as nothing: a soft hyphen, joiners, tags, fillers, controls. */
const UNSEEN = /[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]|[^\P{Cc}\t\n\r]/gu;
const BLANK = /[\p{Zs}\p{Zl}\p{Zp}]/gu;
/** Compatibility forms of the two wildcards: a fold makes no wildcard of what was none. */
const WIDE_WILDCARDS = /[\u2047-\u2049\ufe16\ufe56\ufe61\uff0a\uff1f]/g;
const NO_CHARACTER = "\uffff";
/**
 * Normalizers sort the marks of a run, in the square of its length; UAX #15 calls runs up to 30
 * safe.
 */
const LONG_RUN = /(\p{M}{30})\p{M}+/gu;
const LAST_SIGMA = /ς/g;

/** Starting a regular expression costs more than reading as many units one by one. */
const FEW_UNITS = 16;
/** Finding a text among the remembered ones costs more than reading one of as many units again. */
const SHORT_UNITS = 64;
/** No longer text is kept alive to be known again. */
const KEPT_UNITS = 1_024;

/**
 * The last plain text: the rules of a policy, and a call's judges before and after its permit, look
 * at the same one in turn.
 */
let latestPlain = "";

/** Whether a text has but one reading besides its case. */
export function isPlain(text: string): boolean {
  if (text === latestPlain) return true;
  if (text.length > FEW_UNITS ? ODD.test(text) : hasOddUnit(text)) return false;
  if (text.length <= KEPT_UNITS) latestPlain = text;
  return true;
}

function hasOddUnit(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7e || (unit < 0x20 && unit !== 0x09 && unit !== 0x0a && unit !== 0x0d))
      return true;
  }
  return false;
}

const composed: Fold = (text) => text.replace(LONG_RUN, "$1").normalize("NFC");
/**
 * Character by character, so that it holds for each part of a text what it holds for the whole.
 * Marks go first: none are left to be sorted.
 */
const bare: Fold = (text) =>
  text
    .replace(WIDE_WILDCARDS, NO_CHARACTER)
    .replace(UNSEEN, "")
    .normalize("NFKD")
    .replace(UNSEEN, "")
    .replace(BLANK, " ");
/** `toLowerCase` alone looks at what stands around a sigma. */
const lower: Fold = (text) => text.toLowerCase().replace(LAST_SIGMA, "σ");
/** To lower case first: only then is the capital of "ß" two letters. */
const caseless: Fold = (text) => lower(text.toLowerCase().toUpperCase());
const similar: Fold = (text) => caseless(replaceLookAlikes(text));

/** The readings of a text beside the text as it is, from the nearest to it to the furthest. */
export const FOLDS: readonly Fold[] = [
  composed,
  (text) => lower(composed(text)),
  (text) => caseless(bare(text)),
  // Twice: some letters look like ASCII as capitals only, others in lower case only.
  (text) => similar(similar(bare(text))),
];

/**
 * A text without marks, without what cannot be seen, and with ASCII for what looks like it. It
 * keeps its case.
 */
export function lookOf(text: string): string {
  return isPlain(text) ? text : replaceLookAlikes(bare(text));
}

/** One key for names that a person would take for each other. */
export function reachKeyOf(text: string): string {
  return similar(caseless(lookOf(text)));
}

/** One text and its readings. */
export interface Readings {
  readonly text: string;
  readonly isPlain: boolean;
  /** By their place in {@link FOLDS}. */
  of(fold: number): string;
}

/** Gives the readings of a text. */
export type Reader = (text: string) => Readings;

/** Texts that a reader remembers: many rules look at the same few of one action. */
const KEPT_MAX = 8;

/** Makes a reader that remembers the last few texts. */
export function createReader(): Reader {
  const kept: Readings[] = [];
  let latest = readingsOf("");
  let next = 0;
  return (text) => {
    if (latest.text === text) return latest;
    // Short plain texts are read again sooner than found.
    if (text.length <= SHORT_UNITS && isPlain(text)) return (latest = plainReadings(text));
    const known = kept.find((each) => each.text === text);
    latest = known ?? readingsOf(text);
    if (known === undefined) {
      kept[next] = latest;
      next = (next + 1) % KEPT_MAX;
    }
    return latest;
  };
}

/** The readings of one text, each made when it is asked for. */
export function readingsOf(text: string): Readings {
  if (isPlain(text)) return plainReadings(text);
  const made: (string | undefined)[] = [];
  return { text, isPlain: false, of: (index) => (made[index] ??= FOLDS[index]?.(text) ?? text) };
}

function plainReadings(text: string): Readings {
  let folded: string | undefined;
  return {
    text,
    isPlain: true,
    of: (index) => (index === 0 ? text : (folded ??= text.toLowerCase())),
  };
}
