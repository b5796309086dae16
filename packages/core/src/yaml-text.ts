/// <reference lib="es2024.string" />
/**
 * YAML text: the data of a YAML 1.2 text that people write, and the place of each value in it.
 * Strict: one document, no anchors, aliases or tags, text keys, each key once; what YAML 1.1 read
 * as booleans is refused.
 */
import { LineCounter, isAlias, isMap, isNode, isScalar, isSeq, parseDocument } from "yaml";
import type { Document, Node, Scalar, YAMLError, YAMLMap } from "yaml";
import { ConsentError } from "./errors.js";
import type { TextPosition } from "./errors.js";
import type { JsonObject, JsonValue } from "./json/value.js";
import { JSON_DEPTH_MAX, POLICY_BYTES_MAX } from "./limits.js";
import type { Locate, Spot, Step, Subject } from "./policy/spot.js";
import { quote } from "@acp/exec-safety/text";

/** Booleans of YAML 1.1, texts in 1.2: whoever writes one probably means a boolean. */
const OLD_BOOLEAN = /^(?:yes|no|on|off)$/i;
const OLD_TRUE = /^(?:yes|on)$/i;

const START: TextPosition = { line: 1, column: 1 };

/** A text that is being read. */
interface Reading {
  /** What the text is, for complaints. */
  readonly name: string;
  positionOf(offset: number): TextPosition;
  broken(
    problem: string,
    position: TextPosition,
    more?: { readonly suggestion?: string; readonly cause?: unknown },
  ): ConsentError;
}

/**
 * The root value of a YAML 1.2 text of at most 4 MiB. Strict: one document, no anchors, aliases or
 * tags, each key once.
 *
 * @throws ConsentError of the subject's code, with `position`, and `suggestion` where there is one.
 */
export function readYaml(text: string, subject: Subject): Spot {
  const lines = new LineCounter();
  const reading = createReading(subject, lines);
  checkSize(text, reading);
  const root = parseText(text, lines, reading);
  return { subject, value: toData(root, reading), path: [], locate: locator(root, reading) };
}

function createReading({ name, code }: Subject, lines: LineCounter): Reading {
  return {
    name,
    positionOf(offset) {
      const { line, col } = lines.linePos(offset);
      return { line, column: col };
    },
    broken(problem, position, { suggestion, cause } = {}) {
      const hint = suggestion === undefined ? "" : `; did you mean ${suggestion}?`;
      const message = `Cannot load ${name} at line ${position.line}, column ${position.column}: ${problem}${hint}`;
      return new ConsentError(code, message, {
        position,
        ...(suggestion === undefined ? {} : { suggestion }),
        ...(cause === undefined ? {} : { cause }),
      });
    },
  };
}

function checkSize(text: unknown, reading: Reading): asserts text is string {
  if (typeof text !== "string") throw reading.broken("it is not a string", START);
  if (text.length > POLICY_BYTES_MAX || new TextEncoder().encode(text).length > POLICY_BYTES_MAX) {
    throw reading.broken(`the text has more than ${POLICY_BYTES_MAX} bytes`, START);
  }
}

function parseText(text: string, lineCounter: LineCounter, reading: Reading): Node {
  const document = parseSafely(text, lineCounter, reading);
  // A warning of the parser (an unknown tag, say) is something that it did not understand.
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined)
    throw reading.broken(describe(problem), reading.positionOf(problem.pos[0]), { cause: problem });
  if (document.directives?.yaml.explicit === true && document.directives.yaml.version !== "1.2") {
    throw reading.broken(`the ${reading.name} is YAML 1.2`, START);
  }
  if (document.contents === null) throw reading.broken("the file is empty", START);
  return document.contents;
}

function parseSafely(text: string, lineCounter: LineCounter, reading: Reading): Document.Parsed {
  try {
    // Duplicate keys are ours to find: the parser compares every key of a map with every other. A
    // quieter logLevel would let a second document pass.
    return parseDocument(text, {
      lineCounter,
      version: "1.2",
      schema: "core",
      strict: true,
      merge: false,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: "error",
    });
  } catch (cause) {
    throw reading.broken("the text is nested too deeply or is not YAML", START, { cause });
  }
}

function describe({ code, message }: YAMLError): string {
  if (code === "RESOURCE_EXHAUSTION") return "the text is nested too deeply";
  if (code === "BAD_ALIAS") return 'put a string that begins with "*" in quotes';
  return message.split("\n", 1)[0] ?? "";
}

/** Plain data of a node; refuses what could read differently elsewhere. */
function toData(node: unknown, reading: Reading, depth = 0): JsonValue {
  if (node === null || node === undefined) return null;
  if (!isNode(node)) throw reading.broken("the value is of no known kind", START);
  const position = reading.positionOf(node.range?.[0] ?? 0);
  if (depth > JSON_DEPTH_MAX)
    throw reading.broken(`the text is nested deeper than ${JSON_DEPTH_MAX}`, position);
  if (isAlias(node)) {
    const text = quote(`*${node.source}`);
    throw reading.broken(
      `${text} without quotes is a YAML alias, which is not part of a ${reading.name}`,
      position,
      { suggestion: text },
    );
  }
  if (node.anchor !== undefined)
    throw reading.broken(
      `anchors are not part of a ${reading.name}; write the value out where it is used`,
      position,
    );
  if (node.tag !== undefined)
    throw reading.broken(`the tag ${quote(node.tag)} is not part of a ${reading.name}`, position);
  if (isScalar(node)) return scalarData(node, position, reading);
  if (isSeq(node)) return node.items.map((item) => toData(item, reading, depth + 1));
  if (isMap(node)) return mapData(node, reading, depth);
  throw reading.broken("the value is of no known kind", position);
}

function scalarData({ value, type }: Scalar, position: TextPosition, reading: Reading): JsonValue {
  if (typeof value === "string") {
    if (type === "PLAIN" && OLD_BOOLEAN.test(value)) {
      throw reading.broken(
        `${value} is a string in YAML 1.2, not a boolean; put it in quotes if you mean a string`,
        position,
        {
          suggestion: String(OLD_TRUE.test(value)),
        },
      );
    }
    if (!value.isWellFormed()) throw reading.broken("a string has an unpaired surrogate", position);
    return value;
  }
  if (typeof value === "boolean" || value === null) return value;
  if (typeof value !== "number") throw reading.broken("the value is of no known kind", position);
  // unnamed: it may be a secret
  if (!isExact(value)) throw reading.broken("the number is not exact; put it in quotes", position);
  return value;
}

const isExact = (value: number): boolean =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));

function mapData(map: YAMLMap, reading: Reading, depth: number): JsonObject {
  const entries = new Map<string, JsonValue>();
  for (const { key, value } of map.items) {
    const position = reading.positionOf((isNode(key) ? key.range?.[0] : map.range?.[0]) ?? 0);
    const name = toData(key, reading, depth + 1);
    if (typeof name !== "string")
      throw reading.broken("a key is not a string; put it in quotes", position);
    if (name === "<<")
      throw reading.broken(
        `merge keys are not part of a ${reading.name}; write the values out`,
        position,
      );
    if (entries.has(name)) throw reading.broken(`the key ${quote(name)} appears twice`, position);
    entries.set(name, toData(value, reading, depth + 1));
  }
  return Object.fromEntries(entries);
}

/** Finds a path's node again, for the line and column of a complaint. */
function locator(root: Node, reading: Reading): Locate {
  return (path, part) => {
    let node: unknown = root;
    let key: unknown;
    for (const step of path) [key, node] = stepInto(node, step);
    const found = [part === "key" ? key : node, key, root].find(isNode);
    return reading.positionOf(found?.range?.[0] ?? 0);
  };
}

function stepInto(node: unknown, step: Step): readonly [key: unknown, value: unknown] {
  if (isSeq(node) && typeof step === "number") return [undefined, node.items[step]];
  const pair = isMap(node)
    ? node.items.find(({ key }) => isScalar(key) && key.value === step)
    : undefined;
  return [pair?.key, pair?.value];
}
