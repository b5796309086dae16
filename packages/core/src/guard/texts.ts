/**
 * Texts: every text in the arguments of a call, wherever it stands, and what two of them say
 * together. Pure.
 */
import { isJsonObject } from "../json/value.js";
import type { JsonObject } from "../json/value.js";
import { PATH_CHARS_MAX } from "../limits.js";
import { saysItsStart } from "./readings.js";
import { squeezed } from "./short-forms.js";

/** A text and where it stands, e.g. `paths[1]`. */
export interface PlacedText {
  readonly at: string;
  readonly text: string;
}

/** More texts than any call of a person's tools has. */
const TEXTS_MAX = 2_000;
/** How deep a text that is JSON itself is looked into. */
const NESTING_MAX = 3;
/** Directories and names that are joined: every one with every one. */
const JOINED_MAX = 16;
const JOINED_CHARS_MAX: number = PATH_CHARS_MAX / 2;

/**
 * What a word has that leads somewhere else than to a name in its directory, or is a name that says
 * enough.
 */
const MAY_LEAD = /[/\\~%.]|^id_(?:rsa|dsa|ecdsa|ed25519)$/i;

/** Texts of a call; `isCut` where there are more than are looked at. */
export interface FoundTexts {
  readonly texts: readonly PlacedText[];
  readonly isCut: boolean;
}

/** Every text of the arguments; of keys too, because some tools take a map from path to content. */
export function textsOf(args: JsonObject): FoundTexts {
  const texts: PlacedText[] = [];
  let isCut = false;
  const add = (at: string, text: string, nesting: number): void => {
    if (texts.length >= TEXTS_MAX) isCut = true;
    else texts.push({ at, text });
    for (const each of listed(text))
      if (texts.length < TEXTS_MAX) texts.push({ at, text: each });
      else if (MAY_LEAD.test(each)) isCut = true;
    const inner = nesting < NESTING_MAX ? parsed(text) : undefined;
    if (inner !== undefined) walk(at, inner, nesting + 1);
  };
  const walk = (at: string, value: unknown, nesting: number): void => {
    if (isCut) return;
    if (typeof value === "string") add(at, value, nesting);
    else if (Array.isArray(value)) {
      const path = pathOfParts(value);
      if (path !== undefined) add(at, path, NESTING_MAX);
      value.forEach((each: unknown, index) => {
        if (typeof each !== "number") walk(`${at}[${index}]`, each, nesting);
      });
    } else if (isJsonObject(value)) {
      for (const [key, each] of Object.entries(value)) {
        if (MAY_LEAD.test(key)) add(at, key, NESTING_MAX);
        walk(at === "" ? key : `${at}.${key}`, each, nesting);
      }
    }
  };
  walk("", args, 0);
  return { texts, isCut };
}

/** A list of names as the path that they make: some tools take one in parts. */
function pathOfParts(list: readonly unknown[]): string | undefined {
  const parts = list.filter(
    (part) => typeof part === "string" && part !== "" && !/[/\\\s]/.test(part),
  );
  return list.length > 1 && list.length <= JOINED_MAX && parts.length === list.length
    ? `/${parts.join("/")}`
    : undefined;
}

/** What a text says that is JSON itself; `undefined` where it is none. */
export function parsed(text: string): unknown {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The parts of a text that lists several. One with a blank in it makes the text prose, of which
 * nothing counts; in one line, what begins like a path and is nothing else counts beside such a
 * part too.
 */
function listed(text: string): readonly string[] {
  if (text.length > PATH_CHARS_MAX * 4) return [];
  const parts = text.split(/[\n,;|]/).map((part) => part.trim());
  if (parts.length < 2) return [];
  const words = parts.filter((part) => part !== "" && !/\s/.test(part));
  if (parts.every((part) => !/\s/.test(part))) return words;
  return text.includes("\n") ? [] : words.filter((word) => saysItsStart(word));
}

/** What two texts say together where one is a directory and the other a name in it. */
export function joinedTexts(texts: readonly PlacedText[]): readonly PlacedText[] {
  const short = texts.flatMap(({ at, text: whole }) => {
    const text = whole.length > JOINED_CHARS_MAX ? squeezed(whole.trim(), JOINED_CHARS_MAX) : whole;
    return text === undefined || /\s/.test(text.trim()) ? [] : [{ at, text }];
  });
  const starts = short
    .filter(({ text }) => saysItsStart(text) || /^file:/i.test(text))
    .slice(0, JOINED_MAX);
  const names = short.filter(({ text }) => !/^(?:~|file:)/i.test(text)).slice(0, JOINED_MAX);
  return starts.flatMap((start) =>
    names
      .filter((name) => name !== start)
      .map((name) => ({
        at: `${start.at} and ${name.at}`,
        text: `${start.text.trim()}/${name.text.trim()}`,
      })),
  );
}
