/**
 * People's names, compared: one normal form for everything that asks whether two names are one
 * person. Names are shown and signed as they are written. Format: spec/consent.md §9.
 */

/**
 * What nobody sees: code points that Unicode says to ignore where they have no glyph, and the blank
 * Braille pattern.
 */
const UNSEEN =
  // oxlint-disable-next-line no-misleading-character-class -- single code points are meant, also those that combine
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
const BLANKS = /[\u0000-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/g;
/** Most names; they are their own normal form. */
const PLAIN = /^[a-z0-9]+(?:[._@+-][a-z0-9]+)*$/;

/**
 * The form in which names of people and agents are compared: NFKC, without case, without invisible
 * characters, with single spaces inside and none around. `ann`, `Ann` and `ann ` are one person.
 * Letters of different scripts that look alike stay different. Source: spec/consent.md §9.
 */
export function personKey(name: string): string {
  if (PLAIN.test(name)) return name;
  // Upper case takes letters together that lower case keeps apart, and the capital of "ß" is two
  // letters only from lower case on. A last sigma is a sigma.
  const folded = name
    .normalize("NFKC")
    .replaceAll(UNSEEN, "")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll("ς", "σ");
  return folded.normalize("NFKC").replaceAll(BLANKS, " ").trim();
}

/** Whether two names mean one person, by {@link personKey}. */
export function isSamePerson(a: string, b: string): boolean {
  return a === b || personKey(a) === personKey(b);
}

/** Whether a list of names includes a person, by {@link personKey}. */
export function includesPerson(names: readonly string[], name: string): boolean {
  return names.includes(name) || names.some((each) => isSamePerson(each, name));
}

/** The names in their order, each person once: with the spelling that comes first. */
export function distinctPeople(names: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  return names.filter((name) => {
    const { size } = seen;
    return seen.add(personKey(name)).size > size;
  });
}
