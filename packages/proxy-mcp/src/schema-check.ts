/**
 * Schema check: whether a tool's arguments fit its `inputSchema`, before a person is asked about a
 * call that cannot work. It spares the person and decides nothing: a schema that cannot be compiled
 * or checked in time is skipped with a log line, and the gate judges as ever. Nothing is fetched,
 * no argument is changed. Rules: spec/mcp-proxy.md §5.
 */
import { createRequire } from "node:module";
import type { JsonObject } from "@acp/core";
import type { Ajv, ErrorObject, Options, ValidateFunction } from "ajv";
import type { Ajv2020 } from "ajv/dist/2020.js";
import {
  CHECK_MS_MAX,
  COMPILE_MS_MAX,
  PLAIN_WORK_MAX,
  SCHEMA_CHARS_MAX,
  SCHEMA_DEPTH_MAX,
  SCHEMA_ERRORS_MAX,
} from "./limits.js";
import { logText } from "./log-text.js";
import { fold, isRecord } from "./message.js";
import { runWithin } from "./watchdog.js";

/** Says what is wrong with arguments; `undefined` where nothing is, or nobody can say. */
export interface SchemaCheck {
  (args: JsonObject, argumentChars: number): string | undefined;
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
const DRAFT_07 = /^https?:\/\/json-schema\.org\/draft-0[67]\/schema#?$/;
const OPTIONS: Options = {
  strict: false,
  logger: false,
  allErrors: true,
  validateFormats: false,
  validateSchema: false,
  addUsedSchema: false,
};

/**
 * A check for one schema.
 *
 * @param schema - The tool's `inputSchema` as its server wrote it.
 * @param skip - Told why, once, where the schema is not used (any more).
 */
export function compileSchemaCheck(schema: unknown, skip: (reason: string) => void): SchemaCheck {
  const never: SchemaCheck = () => undefined;
  if (!isRecord(schema)) return never;
  if (depthOf(schema) > SCHEMA_DEPTH_MAX)
    return skipped(`it is nested deeper than ${SCHEMA_DEPTH_MAX}`);
  const schemaChars = JSON.stringify(schema).length;
  if (schemaChars > SCHEMA_CHARS_MAX)
    return skipped(`it has ${schemaChars} characters, more than ${SCHEMA_CHARS_MAX}`);
  let validate: ValidateFunction;
  try {
    const newAjv = loadAjv(schema);
    // the dialect is chosen; Ajv would look for its document
    const { $schema: _, ...body } = schema;
    // Anew for each attempt: one that was stopped half way may remember half of a schema.
    const compiled = runWithin(() => newAjv().compile(body), COMPILE_MS_MAX);
    if (!compiled.ended) return skipped(`compiling it takes more than ${COMPILE_MS_MAX} ms`);
    validate = compiled.value;
  } catch (error) {
    return skipped(error instanceof Error ? error.message : "it does not compile");
  }
  const plain = isPlain(schema, "schema");
  const names = isRecord(schema.properties) ? Object.keys(schema.properties) : [];
  const spelling: Spelling = {
    exact: new Set(names),
    folded: new Map(names.map((name) => [fold(name), name])),
  };
  let tooSlow = false;

  return (args, argumentChars) => {
    const misspelt = misspeltArgument(args, spelling);
    if (misspelt !== undefined) return misspelt;
    if (tooSlow) return undefined;
    if (plain && argumentChars * schemaChars <= PLAIN_WORK_MAX)
      return validate(args) ? undefined : describe(validate.errors);
    const checked = runWithin(() => validate(args), CHECK_MS_MAX);
    if (checked.ended) return checked.value ? undefined : describe(validate.errors);
    tooSlow = true;
    skip(`a check takes more than ${CHECK_MS_MAX} ms`);
    return undefined;
  };

  function skipped(reason: string): SchemaCheck {
    skip(logText(reason));
    return never;
  }
}

/**
 * Loads when the first schema comes, so that the proxy is ready sooner. A gate's check is
 * synchronous, and so is this.
 */
const load = createRequire(import.meta.url);

// The types of the modules that are loaded, which the imports above name.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const loadDraft07 = (): typeof Ajv => (load("ajv") as { readonly Ajv: typeof Ajv }).Ajv;
interface Draft2020 {
  readonly Ajv2020: typeof Ajv2020;
}
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const loadDraft2020 = (): typeof Ajv2020 => (load("ajv/dist/2020.js") as Draft2020).Ajv2020;

function loadAjv(
  schema: Readonly<Record<string, unknown>>,
): () => { compile(schema: object): ValidateFunction } {
  const old = typeof schema.$schema === "string" && DRAFT_07.test(schema.$schema);
  const Chosen = old ? loadDraft07() : loadDraft2020();
  return () => {
    const ajv = new Chosen(OPTIONS);
    // Comparing every pair of items takes quadratic time; the server checks it anyway.
    ajv.removeKeyword("uniqueItems");
    ajv.addKeyword("uniqueItems");
    return ajv;
  };
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

function describe(errors: readonly ErrorObject[] | null | undefined): string {
  const told = (errors ?? [])
    .slice(0, SCHEMA_ERRORS_MAX)
    .map(({ instancePath, message = "is not valid", params }) => {
      const where =
        instancePath === "" ? "the arguments" : `"${instancePath.slice(1).replaceAll("/", ".")}"`;
      const extra: unknown = params.additionalProperty ?? params.allowedValues;
      return `${where} ${message}${extra === undefined ? "" : `: ${JSON.stringify(extra)}`}`;
    });
  const more = (errors?.length ?? 0) - told.length;
  return logText(`${told.join("; ")}${more > 0 ? `; and ${more} more` : ""}`);
}
