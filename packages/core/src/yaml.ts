/**
 * "@acp/core/yaml": a policy from YAML 1.2 text. Every complaint names line and column.
 * Strict: one document, no anchors, aliases or tags, text keys, each key once; what YAML 1.1 read as booleans is refused.
 */
import { LineCounter, isAlias, isMap, isPair, isScalar, isSeq, parseDocument } from "yaml";
import type { Document, Node, Scalar, YAMLMap } from "yaml";
import { ConsentError } from "./errors.js";
import type { TextPosition } from "./errors.js";
import { POLICY_BYTES_MAX } from "./limits.js";
import { compilePolicy } from "./policy/parse.js";
import type { PolicyOptions } from "./policy/parse.js";
import type { Policy } from "./policy/policy.js";
import type { Locate, Step } from "./policy/spot.js";

export type { PolicyOptions } from "./policy/parse.js";

const DEPTH_MAX = 64;
/** Booleans of YAML 1.1, texts in 1.2: whoever writes one probably means a boolean. */
const OLD_BOOLEAN = /^(?:yes|no|on|off)$/i;
const TRUTHY = /^(?:yes|on)$/i;

type Positions = (offset: number) => TextPosition;

/**
 * Compiles a policy from YAML text.
 *
 * @throws ConsentError `policy_invalid` with `position`, and `path` and `suggestion` where there are any.
 */
export function readPolicy(text: string, options: PolicyOptions = {}): Policy {
  checkSize(text);
  const lines = new LineCounter();
  const positions: Positions = (offset) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const root = parseText(text, lines, positions);
  return compilePolicy(toData(root, positions, 0), options, locator(root, positions));
}

function checkSize(text: unknown): asserts text is string {
  if (typeof text !== "string") throw broken("it is not a text", { line: 1, column: 1 });
  if (text.length > POLICY_BYTES_MAX || new TextEncoder().encode(text).length > POLICY_BYTES_MAX) {
    throw broken(`the text has more than ${POLICY_BYTES_MAX} bytes`, { line: 1, column: 1 });
  }
}

function broken(problem: string, position: TextPosition, { suggestion, cause }: { readonly suggestion?: string; readonly cause?: unknown } = {}): ConsentError {
  const hint = suggestion === undefined ? "" : `; did you mean ${suggestion}?`;
  const message = `Cannot load policy at line ${position.line}, column ${position.column}: ${problem}${hint}`;
  return new ConsentError("policy_invalid", message, {
    position,
    ...(suggestion === undefined ? {} : { suggestion }),
    ...(cause === undefined ? {} : { cause }),
  });
}

function parseText(text: string, lineCounter: LineCounter, positions: Positions): Node {
  const document = parseSafely(text, lineCounter);
  // A warning of the parser (an unknown tag, say) is something that it did not understand.
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) throw broken(firstLine(problem.message), positions(problem.pos[0]), { cause: problem });
  if (document.directives?.yaml.explicit === true && document.directives.yaml.version !== "1.2") throw broken("the policy is YAML 1.2", { line: 1, column: 1 });
  if (document.contents === null) throw broken("the file is empty", { line: 1, column: 1 });
  return document.contents;
}

function parseSafely(text: string, lineCounter: LineCounter): Document.Parsed {
  try {
    // Duplicate keys are ours to find: the parser compares every key of a map with every other. A quieter logLevel would let a second document pass.
    return parseDocument(text, { lineCounter, version: "1.2", schema: "core", strict: true, merge: false, uniqueKeys: false, prettyErrors: false, logLevel: "error" });
  } catch (cause) {
    throw broken("the text is nested too deeply or is not YAML", { line: 1, column: 1 }, { cause });
  }
}

const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";

/** Plain data of a node; refuses what could read differently elsewhere. */
function toData(node: unknown, positions: Positions, depth: number): unknown {
  const at = (each: Node): TextPosition => positions(each.range?.[0] ?? 0);
  if (node === null || node === undefined) return null;
  const known = node as Node; // the parser's tree holds nodes only
  if (depth > DEPTH_MAX) throw broken(`the text is nested deeper than ${DEPTH_MAX}`, at(known));
  if (isAlias(known) || ("anchor" in known && known.anchor !== undefined)) throw broken("anchors and aliases are not part of a policy; write the value out", at(known));
  if (known.tag !== undefined && known.tag.startsWith("!")) throw broken(`the tag ${known.tag} is not part of a policy`, at(known));
  if (isScalar(known)) return scalarData(known, at(known));
  if (isSeq(known)) return known.items.map((item) => toData(item, positions, depth + 1));
  if (isMap(known)) return mapData(known, positions, depth);
  throw broken("the value is of no known kind", at(known));
}

function scalarData({ value, type, source }: Scalar, position: TextPosition): unknown {
  if (type === "PLAIN" && typeof value === "string" && OLD_BOOLEAN.test(value)) {
    throw broken(`${value} is a text in YAML 1.2, not a boolean; put it in quotes if a text is meant`, position, { suggestion: String(TRUTHY.test(value)) });
  }
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) throw broken(`the number ${source ?? value} is not exact; put it in quotes`, position);
  return value;
}

function mapData(map: YAMLMap, positions: Positions, depth: number): Record<string, unknown> {
  const data: Record<string, unknown> = Object.create(null) as Record<string, unknown>; // no prototype: a key may be "__proto__"
  for (const { key, value } of map.items) {
    const name = toData(key, positions, depth + 1);
    const position = positions((isScalar(key) ? key.range?.[0] : map.range?.[0]) ?? 0);
    if (typeof name !== "string") throw broken("a key is not a text; put it in quotes", position);
    if (Object.hasOwn(data, name)) throw broken(`the key ${JSON.stringify(name)} stands twice`, position);
    data[name] = toData(value, positions, depth + 1);
  }
  return data;
}

/** Finds a path's node again, for the line and column of a complaint. */
function locator(root: Node, positions: Positions): Locate {
  return (path, part) => {
    let node: unknown = root;
    let key: unknown;
    for (const step of path) [key, node] = stepInto(node, step);
    const found = [part === "key" ? key : node, key, root].find((each) => isScalar(each) || isMap(each) || isSeq(each));
    return positions((isScalar(found) || isMap(found) || isSeq(found) ? found.range?.[0] : undefined) ?? 0);
  };
}

function stepInto(node: unknown, step: Step): readonly [key: unknown, value: unknown] {
  if (isSeq(node) && typeof step === "number") return [undefined, node.items[step]];
  if (!isMap(node)) return [undefined, undefined];
  const pair = node.items.find((each) => isPair(each) && isScalar(each.key) && each.key.value === step);
  return [pair?.key, pair?.value];
}
