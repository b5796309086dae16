/**
 * Short forms: what is left of a text that is longer than any path once it is normalised. Servers
 * normalise before they open: ten thousand `./` before a name are the name. Pure.
 */
import { PATH_CHARS_MAX } from "../limits.js";

const SLASH = 0x2f;
const DOT = 0x2e;
/** What takes one segment away: `../`. */
const UP_CHARS = 3;

/**
 * A path without empty parts, `.`, and `..` behind a name; what it begins like stays. By hand, and no
 * further than where it cannot become short any more: a text of a million slashes has a million parts.
 *
 * @returns Nothing where it has more characters than `charsMax`.
 */
export function squeezed(text: string, charsMax: number): string | undefined {
  const isAbsolute = text.charCodeAt(0) === SLASH;
  /** Where each part that is kept begins and ends. */
  const kept: number[] = [];
  const dots = (from: number, to: number): number =>
    to - from <= 2 && text.charCodeAt(from) === DOT && text.charCodeAt(to - 1) === DOT
      ? to - from
      : 0;
  /** What is kept for good, where nothing takes a part away. */
  let chars = text.includes("..") ? Number.NEGATIVE_INFINITY : 0;
  for (let from = 0, at = 0; at <= text.length; at++) {
    if (chars + at - from > charsMax) return undefined;
    if (at < text.length && text.charCodeAt(at) !== SLASH) continue;
    const ups = dots(from, at);
    if (ups === 2 && kept.length > 0 && dots(kept.at(-2) ?? 0, kept.at(-1) ?? 0) !== 2)
      kept.length -= 2;
    else if (at > from && ups !== 1 && !(ups === 2 && isAbsolute)) {
      kept.push(from, at);
      chars += at - from;
    }
    from = at + 1;
    // Each part has a character and a slash at least.
    if (kept.length - (2 * (text.length - at)) / UP_CHARS > charsMax + 2) return undefined;
  }
  const parts: string[] = [];
  let length = isAbsolute ? 1 : 0;
  for (let at = 0; at < kept.length && length <= charsMax; at += 2) {
    const part = text.slice(kept[at], kept[at + 1]);
    length += part.length + (at > 0 ? 1 : 0);
    parts.push(part);
  }
  return length > charsMax ? undefined : `${isAbsolute ? "/" : ""}${parts.join("/")}`;
}

/**
 * The forms of a long text that are short enough for a path, after each of the steps that a server
 * may take, one after another.
 */
export function shortForms(
  text: string,
  steps: readonly ((text: string) => string)[],
): readonly string[] {
  const forms = new Set<string>();
  const add = (form: string): void => {
    const short = form.length > PATH_CHARS_MAX ? squeezed(form, PATH_CHARS_MAX) : form;
    if (short !== undefined && short !== "") forms.add(short);
  };
  add(text);
  let each = text;
  for (const step of steps) {
    const next = step(each);
    if (next !== each) add(next);
    each = next;
  }
  return [...forms];
}
