/**
 * Prefix tree: which of many texts does a text begin with. A radix tree: the time grows with the
 * text's own length up to the longest of them, not with their number.
 */

interface Node {
  /** What stands between the parent and this node; empty for the root. */
  readonly edge: string;
  /** What was added under the text that ends here. */
  readonly numbers: number[];
  /** By the first UTF-16 unit of their edges. */
  readonly below: Map<number, Node>;
}

/** Numbers under texts. */
export interface PrefixTree {
  add(text: string, number: number): void;
  /** Appends the numbers of every text that this one begins with. */
  collect(text: string, into: number[]): void;
  /** All numbers, in the order in which they were added. */
  readonly all: readonly number[];
}

const leaf = (edge: string, number: number): Node => ({
  edge,
  numbers: [number],
  below: new Map(),
});

/** An empty one. */
export function createPrefixTree(): PrefixTree {
  const root: Node = { edge: "", numbers: [], below: new Map() };
  const all: number[] = [];
  return {
    all,
    add(text, number) {
      all.push(number);
      insert(root, text, number);
    },
    collect(text, into) {
      let node: Node | undefined = root;
      for (let at = 0; ; at += node.edge.length) {
        for (const number of node.numbers) into.push(number);
        if (at >= text.length) return;
        node = node.below.get(text.charCodeAt(at));
        if (node === undefined || !text.startsWith(node.edge, at)) return;
      }
    },
  };
}

function insert(root: Node, text: string, number: number): void {
  let node = root;
  let at = 0;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    const next = node.below.get(unit);
    if (next === undefined) return void node.below.set(unit, leaf(text.slice(at), number));
    const shared = sharedLength(next.edge, text, at);
    if (shared < next.edge.length) node.below.set(unit, (node = split(next, shared)));
    else node = next;
    at += shared;
  }
  node.numbers.push(number);
}

/** A node for the first part of an edge, with the rest below it. */
function split({ edge, ...rest }: Node, length: number): Node {
  const lower: Node = { ...rest, edge: edge.slice(length) };
  return {
    edge: edge.slice(0, length),
    numbers: [],
    below: new Map([[edge.charCodeAt(length), lower]]),
  };
}

function sharedLength(edge: string, text: string, at: number): number {
  let length = 1;
  while (length < edge.length && edge.charCodeAt(length) === text.charCodeAt(at + length)) length++;
  return length;
}
