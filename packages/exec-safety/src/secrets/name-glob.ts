/**
 * Name globs: a shell's globs held against names of files, and against each other. Letters in
 * brackets are read generously: a class takes every letter. Pure.
 */

/**
 * Whether a shell's glob matches a file name. Errs toward a match: a character class in brackets
 * matches every letter.
 */
export function matchesGlob(glob: string, name: string): boolean {
  let at = 0;
  let from = 0;
  let star = -1;
  let starFrom = 0;
  while (from < name.length) {
    const next = at < glob.length ? matchesOne(glob, at, name.charAt(from)) : -1;
    if (glob.charAt(at) === "*") {
      star = at;
      starFrom = from;
      at += 1;
    } else if (next > 0) {
      at = next;
      from += 1;
    } else if (star >= 0) {
      at = star + 1;
      starFrom += 1;
      from = starFrom;
    } else return false;
  }
  while (glob.charAt(at) === "*") at += 1;
  return at === glob.length;
}

/**
 * Whether some name is taken by a shell's glob and by `form`, in which only `*` is special: `*.md`
 * and `--output=*` have `--output=a.md`.
 */
export function globsMeet(glob: string, form: string): boolean {
  const width = form.length + 1;
  const seen = new Set<number>();
  const open = [0];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    if (seen.has(state)) continue;
    seen.add(state);
    const at = Math.floor(state / width);
    const from = state % width;
    if (at === glob.length && from === form.length) return true;
    const isStar = glob.charAt(at) === "*";
    const isFormStar = form.charAt(from) === "*";
    if (isStar) open.push(state + width);
    if (isFormStar) open.push(state + 1);
    if (isStar && from < form.length) open.push(state + 1);
    else if (isFormStar && at < glob.length) open.push(endOfElement(glob, at) * width + from);
    else if (at < glob.length && from < form.length) {
      const next = matchesOne(glob, at, form.charAt(from));
      if (next > 0) open.push(next * width + from + 1);
    }
  }
  return false;
}

/** Where the glob goes on behind its element at `at`, whatever that takes. */
function endOfElement(glob: string, at: number): number {
  const end = glob.charAt(at) === "[" ? endOfSet(glob, at) : -1;
  return end > 0 ? end + 1 : at + 1;
}

/** Where the glob goes on after its element at `at` took `letter`; -1 where it does not take it. */
function matchesOne(glob: string, at: number, letter: string): number {
  const element = glob.charAt(at);
  if (element === "?") return at + 1;
  if (element === "[") {
    const end = endOfSet(glob, at);
    if (end > 0) return takes(glob.slice(at + 1, end), letter) ? end + 1 : -1;
  }
  return element === letter ? at + 1 : -1;
}

/** Where the set that begins at `at` ends; a first `]` and one behind `:` belong to it. */
function endOfSet(glob: string, at: number): number {
  const from = /[!^]/.test(glob.charAt(at + 1)) ? at + 3 : at + 2;
  let end = glob.indexOf("]", from);
  while (end > 0 && glob.charAt(end - 1) === ":" && glob.lastIndexOf("[:", end) > at)
    end = glob.indexOf("]", end + 1);
  return end;
}

function takes(set: string, letter: string): boolean {
  if (set.includes("[:")) return true;
  const isNegated = set.startsWith("!") || set.startsWith("^");
  const letters = isNegated ? set.slice(1) : set;
  for (let index = 0; index < letters.length; index += 1) {
    if (letters.charAt(index) === letter) return !isNegated;
    if (letters.charAt(index + 1) === "-" && index + 2 < letters.length) {
      if (letters.charAt(index) <= letter && letter <= letters.charAt(index + 2)) return !isNegated;
      index += 2;
    }
  }
  return isNegated;
}
