/**
 * Automaton: finds many byte patterns in one pass (Aho and Corasick, 1975). Its states are numbers;
 * a pass costs a bounded number of steps a byte on average, whatever the bytes are.
 */

/** A byte string to find, and what it stands for. */
export interface Pattern {
  readonly bytes: Uint8Array;
  /**
   * So many first bytes are a match already, and each byte more makes it longer; all of them unless
   * given.
   */
  readonly complete?: number;
  /** Index into a list that the caller keeps. */
  readonly label: number;
}

/** State 0 is the start: nothing of any pattern was seen. */
export interface Automaton {
  /** The state after one more byte. */
  next(state: number, byte: number): number;
  /** How many of the last bytes may be the beginning of a pattern. */
  readonly depth: Int32Array;
  /**
   * Length of the longest pattern that ends here; 0 for none. Of a state that `next` has returned,
   * as `label`.
   */
  readonly found: Int32Array;
  /** That pattern's label. */
  readonly label: Int32Array;
  /** Length of the longest pattern. */
  readonly reach: number;
}

/** Children are linked lists: nearly every state has one child. */
interface Trie {
  readonly root: Int32Array;
  readonly child: Int32Array;
  readonly sibling: Int32Array;
  readonly byte: Uint8Array;
  /**
   * The state of the longest beginning that ends here too; {@link UNKNOWN} until the state is
   * reached.
   */
  readonly fail: Int32Array;
  readonly depth: Int32Array;
  readonly found: Int32Array;
  readonly label: Int32Array;
  size: number;
}

const UNKNOWN = -1;

/** The automaton of some patterns; of equal ones the first counts. */
export function buildAutomaton(patterns: readonly Pattern[]): Automaton {
  const reach = patterns.reduce((longest, { bytes }) => Math.max(longest, bytes.length), 0);
  const states = 1 + patterns.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const lists = (): Int32Array => new Int32Array(states);
  const trie: Trie = {
    root: new Int32Array(256),
    child: lists(),
    sibling: lists(),
    byte: new Uint8Array(states),
    fail: lists().fill(UNKNOWN),
    depth: lists(),
    found: lists(),
    label: lists(),
    size: 1,
  };
  trie.fail[0] = 0;
  for (const pattern of patterns) addPattern(trie, pattern);
  const { depth, found, label } = trie;
  return { next: (state, byte) => step(trie, state, byte), depth, found, label, reach };
}

function addPattern(trie: Trie, { bytes, label: name, complete = bytes.length }: Pattern): void {
  const { depth, found, label, fail } = trie;
  let state = 0;
  for (let length = 1; length <= bytes.length; length++) {
    const byte = bytes[length - 1] ?? 0;
    let below: number = childOf(trie, state, byte);
    if (below === 0) {
      below = addChild(trie, state, byte);
      depth[below] = length;
    }
    if (length === 1) fail[below] = 0;
    state = below;
    if (length < complete || found[state] !== 0) continue;
    found[state] = length;
    label[state] = name;
  }
}

function childOf({ root, child, sibling, byte }: Trie, state: number, wanted: number): number {
  if (state === 0) return root[wanted] ?? 0;
  let each = child[state] ?? 0;
  while (each !== 0 && byte[each] !== wanted) each = sibling[each] ?? 0;
  return each;
}

function addChild(trie: Trie, state: number, byte: number): number {
  const added = trie.size++;
  trie.byte[added] = byte;
  if (state === 0) {
    trie.root[byte] = added;
  } else {
    trie.sibling[added] = trie.child[state] ?? 0;
    trie.child[state] = added;
  }
  return added;
}

function step(trie: Trie, state: number, byte: number): number {
  for (let from = state; ; from = trie.fail[from] ?? 0) {
    const below = childOf(trie, from, byte);
    if (below === 0 && from !== 0) continue;
    if (trie.fail[below] === UNKNOWN) link(trie, below, step(trie, trie.fail[from] ?? 0, byte));
    return below;
  }
}

/**
 * INVARIANT: the states that a search can be in, and those that they fall back to, are linked. So
 * preparing many patterns costs no more than storing them, and only what a text resembles is
 * linked.
 */
function link({ fail, found, label }: Trie, state: number, shorter: number): void {
  fail[state] = shorter;
  if (found[state] !== 0) return; // the longest pattern that ends here is its own
  found[state] = found[shorter] ?? 0;
  label[state] = label[shorter] ?? 0;
}
