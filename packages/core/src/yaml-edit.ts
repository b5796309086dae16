/**
 * YAML edit: one text put into a YAML text that people write; every other character, comments too,
 * stays as it is. The result is read again before it is given back: nothing but the one value may
 * have changed. Pure.
 */
import {
  type Node,
  type Scalar,
  type YAMLMap,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  parseDocument,
} from "yaml";
import { ConsentError } from "./errors.js";
import { isJsonObject, type JsonValue } from "./json/value.js";
import { canonicalJson } from "./json/canonical.js";
import { printPath, type Step, type Subject } from "./policy/spot.js";
import { readYaml } from "./yaml-text.js";

/** A change of a text: from `start` to `end` (nothing where they are the same) stands `put` now. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly put: string;
}

/** Plain keys that a reader would not take for texts. */
const NO_TEXT = /^(?:null|true|false|yes|no|on|off|~)$/i;

/**
 * Puts a text into a YAML text: replaces the text at `path`, or adds an entry with the maps above
 * it. Every other character stays, comments too.
 *
 * @throws ConsentError of the subject's code where the YAML does not load, where no text can be at
 *   `path`, and where the place is written in a way that only a person should change.
 */
export function setYamlText(
  text: string,
  path: readonly Step[],
  { value, subject }: { readonly value: string; readonly subject: Subject },
): string {
  const before = readYaml(text, subject).value;
  const edit = findEdit(text, path, value);
  const after =
    edit === undefined ? undefined : text.slice(0, edit.start) + edit.put + text.slice(edit.end);
  if (after === undefined || !isOnlyChange(before, { after, path, value, subject })) {
    const problem = `Cannot write ${printPath(path)} into the ${subject.name}: the place for it is not one that can be changed safely`;
    throw new ConsentError(
      subject.code,
      `${problem}; write the key by hand, with any text, and try again`,
      { path: printPath(path) },
    );
  }
  return after;
}

/** Whether the new text reads as the old one with the value put in. */
function isOnlyChange(
  before: JsonValue,
  {
    after,
    path,
    value,
    subject,
  }: {
    readonly after: string;
    readonly path: readonly Step[];
    readonly value: string;
    readonly subject: Subject;
  },
): boolean {
  try {
    return (
      canonicalJson(readYaml(after, subject).value) ===
      canonicalJson(withValue(before, path, value))
    );
  } catch {
    return false;
  }
}

function withValue(at: JsonValue, path: readonly Step[], value: string): JsonValue {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (typeof step === "number")
    return Array.isArray(at)
      ? at.map((each: JsonValue, index) => (index === step ? withValue(each, rest, value) : each))
      : at;
  const map = isJsonObject(at) ? at : {};
  return { ...map, [step]: withValue(map[step] ?? null, rest, value) };
}

function findEdit(text: string, path: readonly Step[], value: string): Edit | undefined {
  const root = parseDocument(text, {
    version: "1.2",
    schema: "core",
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "error",
  }).contents;
  let node: Node | null = root;
  let key: Node | undefined;
  for (const [depth, step] of path.entries()) {
    if (isEmpty(node)) return fillEmpty(text, node, { key, steps: path.slice(depth), value });
    const found = stepInto(node, step);
    if (found === undefined)
      return isMap(node) ? addEntry(text, node, { steps: path.slice(depth), value }) : undefined;
    [key, node] = found;
  }
  return isScalar(node) ? replaceScalar(text, node, value) : undefined;
}

function stepInto(
  node: unknown,
  step: Step,
): readonly [key: Node | undefined, value: Node | null] | undefined {
  if (isSeq(node) && typeof step === "number") {
    const item = node.items[step];
    return isNode(item) ? [undefined, item] : undefined;
  }
  const pair = isMap(node)
    ? node.items.find((each) => isScalar(each.key) && each.key.value === step)
    : undefined;
  if (pair === undefined) return undefined;
  return [isNode(pair.key) ? pair.key : undefined, isNode(pair.value) ? pair.value : null];
}

/** A key without a value; `null` and `~` count as one. */
function isEmpty(node: Node | null): node is Scalar | null {
  return node === null || (isScalar(node) && node.value === null);
}

interface Missing {
  readonly steps: readonly Step[];
  readonly value: string;
}

function replaceScalar(
  text: string,
  { range, type, value: old }: Scalar,
  value: string,
): Edit | undefined {
  if (range === null || range === undefined || (typeof old !== "string" && old !== null))
    return undefined;
  const [start, end] = range;
  const quoted = JSON.stringify(value);
  if (type !== "BLOCK_LITERAL" && type !== "BLOCK_FOLDED")
    return { start, end, put: start === end ? spaced(text, start, quoted) : quoted };
  const header = text.slice(start, end).split("\n", 1)[0] ?? "";
  return {
    start,
    end,
    put: `${quoted}${header.replace(/^[|>][-+\d]*/, "").trimEnd()}${lineEnd(text)}`,
  };
}

/** Gives a new value the blanks that it needs around it. */
function spaced(text: string, at: number, put: string): string {
  return `${/\s/.test(text[at - 1] ?? " ") ? "" : " "}${put}${text[at] === "#" ? " " : ""}`;
}

/** A map under a key that has no value yet. */
function fillEmpty(
  text: string,
  node: Scalar | null,
  { key, steps, value }: Missing & { readonly key: Node | undefined },
): Edit | undefined {
  const [start, end] = node?.range ?? [];
  if (start === undefined || end === undefined) return undefined;
  const at = key?.range?.[0];
  if (start === end && at !== undefined && isFirstOnLine(text, at)) {
    const lines = blockLines(steps, value, columnOf(text, at) + 2);
    return lines === undefined ? undefined : insertLines(text, start, lines);
  }
  const flow = flowOf(steps, value);
  return flow === undefined
    ? undefined
    : { start, end, put: start === end ? spaced(text, start, flow) : flow };
}

function addEntry(text: string, map: YAMLMap, { steps, value }: Missing): Edit | undefined {
  const start = map.range?.[0];
  if (start === undefined) return undefined;
  if (map.flow === true) {
    const flow = flowOf(steps, value)?.slice(1, -1).trim();
    return flow === undefined
      ? undefined
      : { start: start + 1, end: start + 1, put: ` ${flow}${map.items.length > 0 ? "," : " "}` };
  }
  const column = columnOf(text, start);
  const lines = blockLines(steps, value, column);
  return lines === undefined
    ? undefined
    : insertLines(text, afterComments(text, endOf(map), column), lines);
}

/** Where the last thing in a node ends; comments after it do not count. */
function endOf(node: Node): number {
  const last = lastIn(node);
  return last === undefined ? (node.range?.[1] ?? 0) : endOf(last);
}

function lastIn(node: Node): Node | undefined {
  if ((!isMap(node) && !isSeq(node)) || node.flow === true) return undefined;
  const item: unknown = node.items.at(-1);
  const part = isPair(item)
    ? isNode(item.value) && !isEmpty(item.value)
      ? item.value
      : item.key
    : item;
  return isNode(part) ? part : undefined;
}

/**
 * Comments further in than a map belong to what stands before them, not to a new entry of the map.
 */
function afterComments(text: string, at: number, column: number): number {
  const comment = /(?:(?<=\n)|(?<!\n)[^\n]*\n)(?:[ \t]*\r?\n)*( +)#/y;
  let end = at;
  for (;;) {
    comment.lastIndex = end;
    const found = comment.exec(text);
    if (found === null || (found[1] ?? "").length <= column) return end;
    end = comment.lastIndex;
  }
}

/** Whole lines after the one that `at` is in; at the start of a line, before it. */
function insertLines(text: string, at: number, lines: readonly string[]): Edit {
  const eol = lineEnd(text);
  const block = lines.join(eol);
  if (at > 0 && text[at - 1] === "\n") return { start: at, end: at, put: block + eol };
  const newline = text.indexOf("\n", at);
  if (newline === -1) return { start: text.length, end: text.length, put: eol + block + eol };
  return { start: newline + 1, end: newline + 1, put: block + eol };
}

function blockLines(
  steps: readonly Step[],
  value: string,
  indent: number,
): readonly string[] | undefined {
  if (!steps.every((step) => typeof step === "string")) return undefined;
  return steps.map((step, depth) => {
    const isLast = depth === steps.length - 1;
    return `${" ".repeat(indent + 2 * depth)}${keyText(step)}:${isLast ? ` ${JSON.stringify(value)}` : ""}`;
  });
}

function flowOf(steps: readonly Step[], value: string): string | undefined {
  if (!steps.every((step) => typeof step === "string")) return undefined;
  return steps.reduceRight(
    (inner, step) => `{ ${keyText(step)}: ${inner} }`,
    JSON.stringify(value),
  );
}

function keyText(key: string): string {
  return /^[A-Za-z_]\w*$/.test(key) && !NO_TEXT.test(key) ? key : JSON.stringify(key);
}

function columnOf(text: string, at: number): number {
  return at - (text.lastIndexOf("\n", at - 1) + 1);
}

function isFirstOnLine(text: string, at: number): boolean {
  return /^[ -]*$/.test(text.slice(at - columnOf(text, at), at));
}

function lineEnd(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}
