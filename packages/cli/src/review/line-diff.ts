/**
 * Line diff: what changed between two texts, as `diff -u` shows it. Pure, and bounded: texts that differ too much are shown as one removed and one added.
 */

/** A line with its sign. */
export interface DiffLine {
  readonly sign: " " | "-" | "+";
  readonly text: string;
}

/** Differences that are looked for; the work grows with its square. */
const DISTANCE_MAX = 500;
const CONTEXT = 3;

/** The hunks of a unified diff, each with its head. */
export function unifiedDiff(before: string, after: string): readonly string[] {
  const lines = diffLines(linesOf(before), linesOf(after));
  return hunksOf(lines).flatMap(({ from, to }) => [
    headOf(lines, from, to),
    ...lines.slice(from, to).map(({ sign, text }) => `${sign}${text}`),
  ]);
}

function linesOf(text: string): readonly string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : [...lines.slice(0, -1), `${lines.at(-1) ?? ""} (no newline at the end)`];
}

/** The shortest way from one to the other (Myers), between what both begin and end with. */
export function diffLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const [old, fresh] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  const same = (text: string): DiffLine => ({ sign: " ", text });
  return [...before.slice(0, start).map(same), ...between(old, fresh), ...before.slice(before.length - end).map(same)];
}

function between(old: readonly string[], fresh: readonly string[]): readonly DiffLine[] {
  const trace = findWay(old, fresh);
  const gone = (text: string): DiffLine => ({ sign: "-", text });
  const come = (text: string): DiffLine => ({ sign: "+", text });
  if (trace === undefined) return [...old.map(gone), ...fresh.map(come)];
  const lines: DiffLine[] = [];
  let [x, y] = [old.length, fresh.length];
  for (let distance = trace.length - 1; distance >= 0; distance--) {
    const reach = trace[distance] ?? new Map<number, number>();
    const k = x - y;
    const isDown = k === -distance || (k !== distance && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
    const fromX = distance === 0 ? 0 : (reach.get(isDown ? k + 1 : k - 1) ?? 0);
    // Back over what both have, to where the step had led.
    for (const startX = distance === 0 || isDown ? fromX : fromX + 1; x > startX; ) {
      x -= 1;
      y -= 1;
      lines.push({ sign: " ", text: old[x] ?? "" });
    }
    if (distance === 0) break;
    if (isDown) lines.push(come(fresh[--y] ?? ""));
    else lines.push(gone(old[--x] ?? ""));
  }
  return lines.toReversed();
}

/** How far each diagonal came before each step; `undefined` where the texts differ too much. */
function findWay(old: readonly string[], fresh: readonly string[]): readonly ReadonlyMap<number, number>[] | undefined {
  const reach = new Map<number, number>([[1, 0]]);
  const trace: ReadonlyMap<number, number>[] = [];
  for (let distance = 0; distance <= Math.min(DISTANCE_MAX, old.length + fresh.length); distance++) {
    trace.push(new Map(reach));
    for (let k = -distance; k <= distance; k += 2) {
      const isDown = k === -distance || (k !== distance && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
      let x = isDown ? (reach.get(k + 1) ?? 0) : (reach.get(k - 1) ?? 0) + 1;
      while (x < old.length && x - k < fresh.length && old[x] === fresh[x - k]) x += 1;
      reach.set(k, x);
      if (x >= old.length && x - k >= fresh.length) return trace;
    }
  }
  return undefined;
}

interface Hunk {
  readonly from: number;
  readonly to: number;
}

function hunksOf(lines: readonly DiffLine[]): readonly Hunk[] {
  const hunks: { from: number; to: number }[] = [];
  for (const [index, { sign }] of lines.entries()) {
    if (sign === " ") continue;
    const [from, to] = [Math.max(0, index - CONTEXT), Math.min(lines.length, index + CONTEXT + 1)];
    const last = hunks.at(-1);
    if (last !== undefined && from <= last.to) last.to = to;
    else hunks.push({ from, to });
  }
  return hunks;
}

function headOf(lines: readonly DiffLine[], from: number, to: number): string {
  const count = (signs: string, part: readonly DiffLine[]): number => part.filter(({ sign }) => signs.includes(sign)).length;
  const [above, shown] = [lines.slice(0, from), lines.slice(from, to)];
  const range = (signs: string, sum = count(signs, shown)): string => `${count(signs, above) + (sum === 0 ? 0 : 1)},${sum}`;
  return `@@ -${range(" -")} +${range(" +")} @@`;
}
