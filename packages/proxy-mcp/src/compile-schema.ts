/**
 * Compile schema: what one JSON Schema says of arguments, without any bound on the time. Nothing is
 * fetched, no argument is changed. Runs in a worker thread, or under the watchdog.
 */
import { createRequire } from "node:module";
import type { JsonObject } from "@acp/core";
import type { Ajv, ErrorObject, Options, ValidateFunction } from "ajv";
import type { Ajv2020 } from "ajv/dist/2020.js";
import { SCHEMA_ERRORS_MAX } from "./limits.js";
import { logText } from "./log-text.js";

const DRAFT_07 = /^https?:\/\/json-schema\.org\/draft-0[67]\/schema#?$/;
const OPTIONS: Options = {
  strict: false,
  logger: false,
  allErrors: true,
  validateFormats: false,
  validateSchema: false,
  addUsedSchema: false,
};

/** What is wrong with arguments; `undefined` where nothing is. */
export type Validate = (args: JsonObject) => string | undefined;

/**
 * Prepares a compilation; what it gives may be called again where a call was stopped half way.
 *
 * @throws Error where the schema does not compile.
 */
export function schemaCompiler(schema: Readonly<Record<string, unknown>>): () => Validate {
  const newAjv = loadAjv(schema);
  // the dialect is chosen; Ajv would look for its document
  const { $schema: _, ...body } = schema;
  return () => {
    // Anew for each attempt: one that was stopped half way may remember half of a schema.
    const validate = newAjv().compile(body);
    return (args) => (validate(args) ? undefined : describe(validate.errors));
  };
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

/**
 * Loads what compiles schemas, of each dialect, and uses it once: the first call of a process would
 * wait for it, and a process that runs for long must not load another version later.
 */
export function warmSchemas(): void {
  for (const $schema of ["http://json-schema.org/draft-07/schema#", undefined]) {
    const schema = { $schema, type: "object", properties: { a: { type: "string" } } };
    schemaCompiler(schema)()({ a: "" });
  }
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
