/**
 * Short forms: what is left of a text that is longer than any path once it is normalised. Servers
 * normalise before they open: ten thousand `./` before a name are the name. Pure.
 */
import { PATH_CHARS_MAX } from "../limits.js";

/**
 * A path without empty parts, `.`, and `..` behind a name; what it begins like stays. By hand, and no
 * further than where it cannot become short any more: a text of a million slashes has a million parts.
 *
 * @returns Nothing where it has more characters than `charsMax`.
 */
export function squeezed(text: string, charsMax: number): string | undefined {
  const isAbsolute = text.startsWith("/");
  /** Where each part that is kept begins and ends. */
  const kept: number[] = [];
  const isPart = (part: string, from = 0, to = 0): boolean =>
    to - from === part.length && text.startsWith(part, from);
  /** What is kept for good, where nothing takes a part away. */
  let chars = text.includes("..") ? -text.length : 0;
  for (let from = 0, at = 0; at <= text.length; at++) {
    if (chars + at - from > charsMax) return undefined;
    if (at < text.length && text[at] !== "/") continue;
    const isUp = isPart("..", from, at);
    if (isUp && kept.length > 0 && !isPart("..", kept.at(-2), kept.at(-1))) kept.length -= 2;
    else if (at > from && !isPart(".", from, at) && !(isUp && isAbsolute)) {
      kept.push(from, at);
      chars += at - from;
    }
    from = at + 1;
  }
  let short = isAbsolute ? "/" : "";
  for (let at = 0; at < kept.length && short.length <= charsMax; at += 2)
    short += (at > 0 ? "/" : "") + text.slice(kept[at], kept[at + 1]);
  return short.length > charsMax ? undefined : short;
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
