/**
 * Readings: the paths that a text may mean to whoever takes it for one: as it stands, as a `file:`
 * URL, percent-encoded, with backslashes, with characters that a file system folds away. A guard
 * looks at all of them. Pure; reads no disk.
 */
import { PATH_CHARS_MAX } from "../limits.js";
import { alternativesOf } from "./alternatives.js";
import { shortForms } from "./short-forms.js";

/** Rounds of percent-decoding, each of which some layer of a server may do. */
const DECODINGS_MAX = 3;
/** A text that a person meant has fewer; one with more is made to be misread. */
const READINGS_OF_TEXT_MAX = 128;
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;
const HOME_NAMES = /^(?:\$\{?HOME\}?|%(?:userprofile|homepath)%)(?=[/\\]|$)/i;
/** Schemes whose URLs name other machines. */
const REMOTE = /^(?:https?|wss?|ftps?|sftp|ssh|git|mailto|data):/i;

type Step = (text: string) => string;

function decodePercent(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    // Bytes that are no UTF-8: what is ASCII is read all the same.
    return text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
}

/** `file:` URLs of every form, and those of schemes that a server made up for its own files. */
function withoutScheme(text: string): string {
  // A pattern goes through all letters of a long text before it misses the colon.
  if (!text.includes(":") || REMOTE.test(text)) return text;
  const url = /^[a-z][a-z0-9+.-]+:(?:\/\/(?:localhost|[^/\\]*(?=[/\\]))?)?(.*)$/is.exec(text);
  return url?.[1] ?? text;
}

/** Who reads a URL drops line ends and tabs inside of it. */
const withoutBreaks = (text: string): string =>
  text.includes(":") && /^[a-z][a-z0-9+.\s-]*:/i.test(text) ? text.replace(/[\t\r\n]/g, "") : text;

const EDGE = /[\p{Cc}\s]/u;
const isEdge = (unit: string): boolean => unit <= " " || EDGE.test(unit);

/**
 * Without controls and blanks at both ends, as URLs are read. By hand: a pattern for the end of a
 * text looks from each of its blanks.
 */
function withoutEdges(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && isEdge(text.charAt(from))) from += 1;
  while (from < to && isEdge(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

/** Most texts are: they are composed, and have nothing that is ignored, whatever they say. */
const ASCII = /^[\0-\x7f]*$/;

function composed(text: string): string {
  return ASCII.test(text) ? text : text.normalize("NFKC");
}

function withoutIgnorable(text: string): string {
  return ASCII.test(text) ? text : text.replace(IGNORABLE, "");
}

const STEPS: readonly Step[] = [
  withoutEdges,
  (text) => text.split("\0", 1)[0] ?? "",
  composed,
  withoutIgnorable,
  ...Array.from({ length: DECODINGS_MAX }, () => decodePercent),
  withoutBreaks,
  (text) => text.replace(/^(["'`])(.*)\1$/s, "$2"),
  // An option's value, and a file that stands for its content: `--file=/a`, `@/a`.
  (text) =>
    /[=@]/.test(text) ? text.replace(/^(?:-{0,2}[\w.-]*=|(?:-\w)?@)(?=[/~.\\]|file:)/i, "") : text,
  (text) => text.replace(/^file:\/\/(?=~)/i, ""),
  // Twice: `view-source:file:///a`.
  withoutScheme,
  withoutScheme,
  (text) => text.replace(/[?#].*$/s, ""),
  (text) => text.replaceAll("\\", "/"),
  (text) => text.replace(/^(?:\/\/[?.])?\/?[a-z]:(?=\/)/i, ""),
  (text) => text.replace(HOME_NAMES, "~"),
];

/** Readings of a text; `isCut` where it may have more than are looked at. */
export interface Readings {
  readonly readings: readonly string[];
  readonly isCut: boolean;
}

/**
 * Every reading of a text, itself first; none of one that names no path however it is shortened.
 */
export function readingsOf(text: string): Readings {
  if (text === "") return { readings: [], isCut: false };
  const found = new Set(text.length > PATH_CHARS_MAX ? shortForms(text, STEPS) : [text]);
  for (const step of STEPS)
    for (const each of found.size < READINGS_OF_TEXT_MAX ? [...found] : []) found.add(step(each));
  const alternatives = [...found].map((each) => alternativesOf(each));
  for (const one of alternatives.flatMap(({ texts }) => texts)) found.add(one);
  const readings = [...found].filter((each) => each !== "").slice(0, READINGS_OF_TEXT_MAX);
  return {
    readings,
    isCut: readings.length === READINGS_OF_TEXT_MAX || alternatives.some(({ isCut }) => isCut),
  };
}

/**
 * A segment as the most forgiving file system compares it: case, composition, invisible characters
 * and trailing dots do not count.
 */
export function foldSegment(segment: string): string {
  const folded = ASCII.test(segment) ? segment.toLowerCase() : foldedCase(segment);
  return /^\.{1,2}$/.test(folded) ? folded : folded.replace(/[. ]+$/, "");
}

/**
 * Through upper case: there some file systems find "ss" where "\u00df" stands, and where its capital
 * does from lower case on.
 */
function foldedCase(segment: string): string {
  return segment
    .normalize("NFKC")
    .replace(IGNORABLE, "")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .normalize("NFKC");
}

/** The folded segments of a path from the root; `..` goes up as in a text, not as through links. */
export function foldedSegments(path: string): readonly string[] {
  const segments: string[] = [];
  for (const raw of path.split("/")) {
    const segment = foldSegment(raw);
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return segments;
}

/** Whether a text is a URL of another host. */
export const isRemote = (text: string): boolean => REMOTE.test(text);

/** Whether a path, relative or not, begins like one that says where it starts. */
export function saysItsStart(text: string): boolean {
  return /^(?:\/|~|\.{1,2}(?:\/|$))/.test(text);
}
