/**
 * Automaton: finds many byte patterns in one pass (Aho and Corasick, 1975). Its states are numbers; a pass costs a bounded number of steps
 * a byte on average, whatever the bytes are.
 */

/** A byte string to find, and what it stands for. */
export interface Pattern {
  readonly bytes: Uint8Array;
  /** So many first bytes are a match already, and each byte more makes it longer; all of them unless given. */
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
  /** Length of the longest pattern that ends here; 0 for none. */
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
  readonly fail: Int32Array;
  size: number;
}

const at = (list: Int32Array | Uint8Array, index: number): number => list[index] ?? 0;

/** The automaton of some patterns; of equal ones the first counts. */
export function buildAutomaton(patterns: readonly Pattern[]): Automaton {
  const states = 1 + patterns.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const lists = (): Int32Array => new Int32Array(states);
  const trie: Trie = { root: new Int32Array(256), child: lists(), sibling: lists(), byte: new Uint8Array(states), fail: lists(), size: 1 };
  const [depth, found, label] = [lists(), lists(), lists()];
  for (const { bytes, label: name, complete = bytes.length } of patterns) {
    let state = 0;
    for (const byte of bytes) {
      const known = childOf(trie, state, byte);
      const below: number = known === 0 ? addChild(trie, state, byte) : known;
      const length = at(depth, state) + 1;
      depth[below] = length;
      state = below;
      if (length < complete || at(found, state) !== 0) continue;
      found[state] = length;
      label[state] = name;
    }
  }
  linkFailures(trie, (state, shorter) => {
    if (at(found, state) !== 0) return; // the longest pattern that ends here is its own
    found[state] = at(found, shorter);
    label[state] = at(label, shorter);
  });
  const reach = patterns.reduce((longest, { bytes }) => Math.max(longest, bytes.length), 0);
  return { next: (state, byte) => step(trie, state, byte), depth, found, label, reach };
}

function childOf({ root, child, sibling, byte }: Trie, state: number, wanted: number): number {
  if (state === 0) return at(root, wanted);
  let each = at(child, state);
  while (each !== 0 && at(byte, each) !== wanted) each = at(sibling, each);
  return each;
}

function addChild(trie: Trie, state: number, byte: number): number {
  const added = trie.size++;
  trie.byte[added] = byte;
  if (state === 0) {
    trie.root[byte] = added;
  } else {
    trie.sibling[added] = at(trie.child, state);
    trie.child[state] = added;
  }
  return added;
}

function step(trie: Trie, state: number, byte: number): number {
  for (let from = state; from !== 0; from = at(trie.fail, from)) {
    const below = childOf(trie, from, byte);
    if (below !== 0) return below;
  }
  return at(trie.root, byte);
}

/** Breadth first, so that a shorter state is complete before a longer one refers to it. */
function linkFailures(trie: Trie, inherit: (state: number, shorter: number) => void): void {
  const order: number[] = [...trie.root].filter((state) => state !== 0);
  for (let index = 0; index < order.length; index++) {
    const state = order[index] ?? 0;
    for (let below = at(trie.child, state); below !== 0; below = at(trie.sibling, below)) {
      trie.fail[below] = step(trie, at(trie.fail, state), at(trie.byte, below));
      inherit(below, at(trie.fail, below));
      order.push(below);
    }
  }
}
