/**
 * Output: whether what a stage of a pipeline prints ends as a count. Every stage behind it has to
 * be a plain command that passes lines on and writes to nothing but its output.
 */
import { changesInput } from "../names.js";
import type { Node } from "../../parse/tree.js";

const PASSES: ReadonlySet<string> = new Set(
  "cat grep egrep fgrep sed sort uniq head tail cut awk tr wc nl rev tac md5sum sha1sum sha256sum cksum".split(
    " ",
  ),
);
const SUMS: ReadonlySet<string> = new Set("wc md5sum sha1sum sha256sum cksum".split(" "));

/**
 * Whether nobody sees the lines that go into these stages: the last one counts, or nobody sees its
 * output.
 */
export function countsOnly(stages: readonly Node[], isShown: boolean): boolean {
  const last = stages.at(-1);
  if (last === undefined) return !isShown;
  return (
    passesOn(stages) &&
    (!isShown || (last.type === "command" && isCount(last.words.map(({ text }) => text))))
  );
}

/** Whether these stages only pass lines on, so that no name among them is read as one. */
export function passesOn(stages: readonly Node[]): boolean {
  return stages.every(isPlain);
}

function isPlain(node: Node): boolean {
  if (node.type !== "command" || node.assignments.length > 0) return false;
  return (
    PASSES.has(node.words[0]?.text ?? "") &&
    node.words.every(({ text }) => text !== undefined) &&
    node.redirects.every(
      ({ descriptor, target }) =>
        descriptor === 2 && /^(?:\/dev\/null|1)$/.test(target?.text ?? ""),
    )
  );
}

function isCount([program = "", ...args]: readonly (string | undefined)[]): boolean {
  if (SUMS.has(program)) return true;
  // What stands behind these may be a pattern.
  if (!/^[ef]?grep$/.test(program) || args.some((arg) => arg === "--" || arg === "-e"))
    return false;
  return args.some((arg) => /^-[EFinvwxs]*[cq]$|^--(?:count|quiet)$/.test(arg ?? ""));
}

/**
 * Takes the part before `@` out of addresses: `https://me:token@host` is `https://host` behind it.
 * Git takes none with a slash for one.
 */
const ADDRESSES_OUT = "s#://[^/]*@#://#g";
/** The program that does, as it stands in a command. */
export const HIDING_ADDRESSES: string = `sed '${ADDRESSES_OUT}'`;

/**
 * Whether the first of these stages takes tokens out of addresses, and passes on nothing else of
 * its input.
 */
export function hidesAddresses([stage]: readonly Node[]): boolean {
  if (
    stage?.type !== "command" ||
    stage.assignments.length > 0 ||
    stage.redirects.some(changesInput)
  )
    return false;
  const texts = stage.words.map(({ text }) => text);
  return texts.length === 2 && texts[0] === "sed" && texts[1] === ADDRESSES_OUT;
}
