/**
 * Diff: what changes from some lines to others: the fewest lines out and in, where that can be
 * found in bounded time.
 */

/** @typedef {{ readonly sign: " " | "-" | "+", readonly text: string }} DiffLine */

/** Beyond this many comparisons, what differs is shown as all out and all in. */
const WORK_MAX = 4_000_000;

/** @type {(sign: DiffLine["sign"], lines: readonly string[]) => DiffLine[]} */
const signed = (sign, lines) => lines.map((text) => ({ sign, text }));

/**
 * Lengths of the longest common lines of every two ends. @type {(before: readonly string[], after:
 * readonly string[]) => Uint32Array}
 */
function commonLengths(before, after) {
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const at = i * width + j;
      lengths[at] =
        before[i] === after[j]
          ? (lengths[at + width + 1] ?? 0) + 1
          : Math.max(lengths[at + width] ?? 0, lengths[at + 1] ?? 0);
    }
  }
  return lengths;
}

/** @type {(before: readonly string[], after: readonly string[]) => DiffLine[]} */
function diffMiddle(before, after) {
  if (before.length * after.length > WORK_MAX)
    return [...signed("-", before), ...signed("+", after)];
  const lengths = commonLengths(before, after);
  const width = after.length + 1;
  /** @type {DiffLine[]} */
  const lines = [];
  let [i, j] = [0, 0];
  while (i < before.length && j < after.length) {
    const [old, now] = [before[i] ?? "", after[j] ?? ""];
    if (old === now) {
      lines.push({ sign: " ", text: old });
      i++;
      j++;
    } else if ((lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0)) {
      lines.push({ sign: "-", text: old });
      i++;
    } else {
      lines.push({ sign: "+", text: now });
      j++;
    }
  }
  return [...lines, ...signed("-", before.slice(i)), ...signed("+", after.slice(j))];
}

/**
 * @param {readonly string[]} before
 * @param {readonly string[]} after
 * @returns {readonly DiffLine[]}
 */
export function diffLines(before, after) {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (
    tail < shorter - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail++;
  return [
    ...signed(" ", before.slice(0, head)),
    ...diffMiddle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...signed(" ", before.slice(before.length - tail)),
  ];
}
