/**
 * Short forms: what is left of a text that is longer than any path once it is normalised. Servers
 * normalise before they open: ten thousand `./` before a name are the name. Pure.
 */
import { PATH_CHARS_MAX } from "../limits.js";

/** A path without empty parts, `.`, and `..` behind a name; what it begins like stays. */
export function squeezed(text: string): string {
  const isAbsolute = text.startsWith("/");
  const kept: string[] = [];
  for (const segment of text.split("/")) {
    if (segment === "" || segment === ".") continue;
    const last = kept.at(-1);
    if (segment !== "..") kept.push(segment);
    else if (last !== undefined && last !== "..") kept.pop();
    else if (!isAbsolute) kept.push(segment);
  }
  return `${isAbsolute ? "/" : ""}${kept.join("/")}`;
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
    const short = form.length > PATH_CHARS_MAX ? squeezed(form) : form;
    if (short !== "" && short.length <= PATH_CHARS_MAX) forms.add(short);
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
