/**
 * Rule index: the rules that an action can match, found by their anchors. Each rule stands under
 * one of its anchors: the one that the fewest rules share.
 */
import { isToolAction } from "../action/action.js";
import type { Action } from "../action/action.js";
import type { JsonValue } from "../json/value.js";
import { namesOf, pathsIn, textsAt, textsIn } from "./anchors.js";
import type { Anchor, Found, Place } from "./anchors.js";
import type { PathOrigins } from "./path.js";
import { createPrefixTree } from "./prefix-tree.js";
import type { PrefixTree } from "./prefix-tree.js";

/**
 * An index of rules by their numbers in the policy. What it gives is in order; there may be more than
 * an action can match, and one twice. Every rule that it matches is in one of both.
 */
export interface RuleIndex {
  /** Rules that stand under a name, and those without an anchor: the same for equal names. */
  underName(action: Action): readonly number[];
  /** Rules that stand under anything else. */
  underContent(action: Action): readonly number[];
}

const NONE: readonly number[] = [];

/** Makes an index; `anchors` has the anchors of each rule. */
export function createRuleIndex(
  anchors: readonly (readonly Anchor[])[],
  origins: PathOrigins,
): RuleIndex {
  const shared = new Map<string, number>();
  for (const each of anchors.flat()) shared.set(keyOf(each), (shared.get(keyOf(each)) ?? 0) + 1);
  const trees = new Map<Place, PrefixTree>();
  const unanchored: number[] = [];
  for (const [number, own] of anchors.entries()) {
    const rarest = rarestOf(own, (anchor) => shared.get(keyOf(anchor)) ?? 0);
    if (rarest === undefined) unanchored.push(number);
    else treeAt(trees, rarest.place).add(rarest.text, number);
  }
  const names = treeAt(trees, "name");
  trees.delete("name");
  return {
    underName(action) {
      const found = [...unanchored];
      collect(names, textsAt("name", action), found);
      return inOrder(found);
    },
    underContent: lookup(trees, origins),
  };
}

const keyOf = ({ place, text }: Anchor): string => `${place}\0${text}`;

/** Of equally rare ones the longest. */
function rarestOf(
  anchors: readonly Anchor[],
  countOf: (anchor: Anchor) => number,
): Anchor | undefined {
  return anchors.reduce<Anchor | undefined>((best, each) => {
    if (best === undefined) return each;
    const difference = countOf(each) - countOf(best);
    return difference < 0 || (difference === 0 && each.text.length > best.text.length)
      ? each
      : best;
  }, undefined);
}

function treeAt(trees: Map<Place, PrefixTree>, place: Place): PrefixTree {
  const known = trees.get(place);
  if (known !== undefined) return known;
  const tree = createPrefixTree();
  trees.set(place, tree);
  return tree;
}

function lookup(
  trees: ReadonlyMap<Place, PrefixTree>,
  origins: PathOrigins,
): RuleIndex["underContent"] {
  const fixed = [...trees].filter(([place]) => !/^(?:text|path) /.test(place));
  const hasArguments = fixed.length < trees.size;
  return (action) => {
    const found: number[] = [];
    for (const [place, tree] of fixed) collect(tree, textsAt(place, action), found);
    if (hasArguments && isToolAction(action)) {
      for (const [name, value] of Object.entries(action.args))
        for (const each of namesOf(name)) collectArgument(each, value, found);
    }
    return found.length === 0 ? NONE : inOrder(found);
  };

  function collectArgument(name: string, value: JsonValue, into: number[]): void {
    const texts = trees.get(`text ${name}`);
    if (texts !== undefined) collect(texts, textsIn(value), into);
    const paths = trees.get(`path ${name}`);
    if (paths !== undefined) collect(paths, pathsIn(value, origins), into);
  }
}

const inOrder = (numbers: number[]): readonly number[] =>
  numbers.length < 2 ? numbers : numbers.sort((a, b) => a - b);

function collect(tree: PrefixTree, found: Found, into: number[]): void {
  if (found === "anything") for (const number of tree.all) into.push(number);
  else for (const text of found) tree.collect(text, into);
}
