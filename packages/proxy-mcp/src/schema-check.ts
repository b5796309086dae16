/**
 * Schema check: whether a tool's arguments fit its `inputSchema`, before a person is asked about a
 * call that cannot work. It spares the person and decides nothing: a schema that cannot be compiled
 * or checked in time is skipped with a log line, and the gate judges as ever. Nothing is fetched,
 * no argument is changed. Rules: spec/mcp-proxy.md §5.
 */
import type { JsonObject } from "@acp/core";
import type { Aside } from "./aside.js";
import { schemaCompiler } from "./compile-schema.js";
import type { Validate } from "./compile-schema.js";
import {
  CHECK_MS_MAX,
  COMPILE_MS_MAX,
  PLAIN_WORK_MAX,
  QUICK_COMPILE_MS_MAX,
  QUICK_SCHEMA_CHARS_MAX,
  SCHEMA_CHARS_MAX,
  SCHEMA_DEPTH_MAX,
} from "./limits.js";
import { logText } from "./log-text.js";
import { fold } from "./fold.js";
import { isRecord } from "./message.js";
import { runWithin } from "./watchdog.js";

/** What one schema says of arguments; their size is told in characters of JSON. */
export interface SchemaCheck {
  /**
   * Finds out in a worker what {@link check} then says of these arguments, where it might take long
   * here.
   *
   * @returns Nothing where it does not take long. Never rejects.
   */
  prepare(args: JsonObject, argumentChars: number, aside: Aside): Promise<void> | undefined;
  /** What is wrong with arguments; `undefined` where nothing is, or nobody can say. */
  check(args: JsonObject, argumentChars: number): string | undefined;
}

/** Names of a schema's own properties. */
interface Spelling {
  readonly exact: ReadonlySet<string>;
  readonly folded: ReadonlyMap<string, string>;
}

/**
 * Keywords whose work is bounded by the schema times the arguments; any other keyword is checked
 * under the watchdog.
 */
const PLAIN_KEYWORDS: ReadonlySet<string> = new Set(
  [
    "$schema $comment title description default examples deprecated readOnly writeOnly format",
    "type enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength",
    "properties required additionalProperties minProperties maxProperties propertyNames items prefixItems minItems maxItems",
  ].flatMap((line) => line.split(" ")),
);
/** Of these, the keywords that hold names or values rather than schemas. */
const NO_SCHEMA_INSIDE: ReadonlySet<string> = new Set([
  "default",
  "examples",
  "enum",
  "const",
  "required",
  "type",
]);

/**
 * A check for one schema, which is compiled when it is needed.
 *
 * @param schema - The tool's `inputSchema` as its server wrote it.
 * @param skip - Told why, once, where the schema is not used (any more).
 */
export function createSchemaCheck(schema: unknown, skip: (reason: string) => void): SchemaCheck {
  if (!isRecord(schema)) return NEVER;
  const bounds = boundsOf(schema);
  if (typeof bounds === "string") {
    skip(bounds);
    return NEVER;
  }
  const state: State = {
    schema,
    schemaChars: bounds,
    isPlain: isPlain(schema, "schema"),
    spelling: spellingOf(schema),
    skipped: (reason): undefined => {
      state.isSkipped = true;
      skip(logText(reason));
    },
    isSkipped: false,
    isSlow: false,
    validate: undefined,
    answers: new WeakMap(),
  };
  return {
    prepare: (args, argumentChars, aside) =>
      state.isSkipped || state.answers.has(args) || isQuick(state, argumentChars)
        ? undefined
        : checkAside(state, args, aside),
    check: (args, argumentChars) =>
      misspeltArgument(args, state.spelling) ?? checkHere(state, args, argumentChars),
  };
}

const NEVER: SchemaCheck = { prepare: () => undefined, check: () => undefined };

/** How many characters a schema has, or why that or its depth is too much. */
function boundsOf(schema: object): number | string {
  if (depthOf(schema) > SCHEMA_DEPTH_MAX) return `it is nested deeper than ${SCHEMA_DEPTH_MAX}`;
  const chars = JSON.stringify(schema).length;
  return chars > SCHEMA_CHARS_MAX
    ? `it has ${chars} characters, more than ${SCHEMA_CHARS_MAX}`
    : chars;
}

/** What is known of one schema. */
interface State {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly schemaChars: number;
  readonly isPlain: boolean;
  readonly spelling: Spelling;
  skipped(reason: string): undefined;
  isSkipped: boolean;
  /** It took long in the worker: never compiled here. */
  isSlow: boolean;
  validate: Validate | undefined;
  /** What the worker said of arguments, which never change. */
  readonly answers: WeakMap<JsonObject, string | undefined>;
}

/** Whether a check takes some milliseconds at most, compiling included. */
const isQuick = (
  { isPlain: plain, schemaChars, validate }: State,
  argumentChars: number,
): boolean =>
  plain &&
  argumentChars * schemaChars <= PLAIN_WORK_MAX &&
  (validate !== undefined || schemaChars <= QUICK_SCHEMA_CHARS_MAX);

async function checkAside(state: State, args: JsonObject, aside: Aside): Promise<void> {
  const told = await aside.check(state.schema, args);
  if ("reason" in told) {
    // Several calls may have waited for the same schema.
    if (!state.isSkipped) state.skipped(told.reason);
    return;
  }
  state.isSlow ||= told.compileMs > QUICK_COMPILE_MS_MAX;
  state.answers.set(args, told.problem);
}

function checkHere(state: State, args: JsonObject, argumentChars: number): string | undefined {
  const { answers, isPlain: plain, schemaChars } = state;
  if (answers.has(args)) return answers.get(args);
  if (state.isSkipped || state.isSlow) return undefined;
  const validate = (state.validate ??= compileHere(state));
  if (validate === undefined) return undefined;
  if (plain && argumentChars * schemaChars <= PLAIN_WORK_MAX) return validate(args);
  const checked = runWithin(() => validate(args), CHECK_MS_MAX);
  if (checked.ended) return checked.value;
  return state.skipped(`a check takes more than ${CHECK_MS_MAX} ms`);
}

function compileHere({ schema, skipped }: State): Validate | undefined {
  try {
    const compiled = runWithin(schemaCompiler(schema), COMPILE_MS_MAX);
    return compiled.ended
      ? compiled.value
      : skipped(`compiling it takes more than ${COMPILE_MS_MAX} ms`);
  } catch (error) {
    return skipped(error instanceof Error ? error.message : "it does not compile");
  }
}

function spellingOf({ properties }: Readonly<Record<string, unknown>>): Spelling {
  const names = isRecord(properties) ? Object.keys(properties) : [];
  return { exact: new Set(names), folded: new Map(names.map((name) => [fold(name), name])) };
}

/** Nesting, counted no further than past the limit. */
function depthOf(root: object): number {
  let depth = 0;
  let level: object[] = [root];
  while (level.length > 0 && depth <= SCHEMA_DEPTH_MAX) {
    level = level.flatMap((value) => Object.values(value).filter(isComposite));
    depth++;
  }
  return depth;
}

function isComposite(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/**
 * Whether checking needs no watchdog; `properties` maps names to schemas, so its own keys are no
 * keywords.
 */
function isPlain(node: unknown, role: "schema" | "names"): boolean {
  if (Array.isArray(node)) return node.every((item) => isPlain(item, "schema"));
  if (!isRecord(node)) return true;
  if (role === "names") return Object.values(node).every((child) => isPlain(child, "schema"));
  return Object.entries(node).every(([keyword, child]) => {
    if (!PLAIN_KEYWORDS.has(keyword)) return false;
    return (
      NO_SCHEMA_INSIDE.has(keyword) || isPlain(child, keyword === "properties" ? "names" : "schema")
    );
  });
}

/**
 * Servers whose JSON reader ignores case would take such a member for the real one, which policies
 * match by its exact name.
 */
function misspeltArgument(args: JsonObject, { exact, folded }: Spelling): string | undefined {
  for (const key of Object.keys(args)) {
    if (exact.has(key)) continue;
    const name = folded.get(fold(key));
    if (name !== undefined)
      return `${JSON.stringify(key)} differs from the argument "${name}" in case only`;
  }
  return undefined;
}
