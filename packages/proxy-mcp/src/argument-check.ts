/**
 * Argument check: how a gate in front of MCP servers checks arguments, both of calls and of a
 * person's edits. Rules: spec/mcp-proxy.md §5.
 */
import { isToolAction } from "@acp/core";
import type { Action, ArgumentCheck, JsonObject, ToolDefinition } from "@acp/core";
import type { Aside } from "./aside.js";
import { logText } from "./log-text.js";
import { createSchemaCheck, type SchemaCheck } from "./schema-check.js";

/** Options of {@link createArgumentCheck}. */
export interface ArgumentCheckOptions {
  /** Called with one line that says why a tool's schema is not used. */
  readonly log: (line: string) => void;
}

/**
 * Creates a check of arguments against the `inputSchema` that the proxy presents with a call. A
 * schema that cannot be compiled, or checked in time, is not used, and that is logged once. The
 * check saves people questions; the gate decides.
 *
 * @example
 * ```ts
 * import { createConsentGate } from "@acp/core";
 * import { createArgumentCheck } from "@acp/proxy-mcp";
 *
 * const argumentCheck = createArgumentCheck({ log: console.error });
 * const gate = createConsentGate({ policy, channel, audit, argumentCheck });
 * ```
 */
export function createArgumentCheck({ log }: ArgumentCheckOptions): ArgumentCheck {
  return {
    check(action, tool): string | undefined {
      const found = schemaOf(action, tool, log);
      return found?.schema.check(found.args, found.chars);
    },
  };
}

/**
 * Finds out in a worker what every argument check of this process then says of a call, where its
 * schema might take long; nothing where it does not.
 */
export function prepareCheck(
  action: Action,
  tool: ToolDefinition | undefined,
  { log, aside }: ArgumentCheckOptions & { readonly aside: Aside },
): Promise<void> | undefined {
  // What does not belong together is the check's to refuse.
  const found = isOf(action, tool) ? schemaOf(action, tool, log) : undefined;
  return found?.schema.prepare(found.args, found.chars, aside);
}

/** What is known of schemas, which never change: of use to every check that meets them. */
const known = new WeakMap<JsonObject, SchemaCheck>();
/** The same of the size of arguments: a call is prepared, and then checked. */
const sizes = new WeakMap<JsonObject, number>();

function charsOf(args: JsonObject): number {
  const chars = sizes.get(args) ?? JSON.stringify(args).length;
  sizes.set(args, chars);
  return chars;
}

interface Found {
  readonly schema: SchemaCheck;
  readonly args: JsonObject;
  readonly chars: number;
}

const isOf = (action: Action, tool: ToolDefinition | undefined): boolean =>
  isToolAction(action) && tool?.server === action.meta.server && tool.name === action.name;

function schemaOf(
  action: Action,
  tool: ToolDefinition | undefined,
  log: (line: string) => void,
): Found | undefined {
  if (!isToolAction(action) || tool?.inputSchema === undefined) return undefined;
  const { server } = action.meta;
  if (!isOf(action, tool))
    throw new Error("the definition that came with the call is another tool's");
  const schema =
    known.get(tool.inputSchema) ??
    createSchemaCheck(tool.inputSchema, (reason) =>
      log(
        `[${server}] arguments of tool "${logText(action.name)}" are not checked against its schema: ${reason}`,
      ),
    );
  known.set(tool.inputSchema, schema);
  return { schema, args: action.args, chars: charsOf(action.args) };
}
