/**
 * Argument check: how a gate in front of MCP servers checks arguments, both of calls and of a
 * person's edits. Rules: spec/mcp-proxy.md §5.
 */
import { type ArgumentCheck, isToolAction, type JsonObject } from "@acp/core";
import { logText } from "./log-text.js";
import { compileSchemaCheck, type SchemaCheck } from "./schema-check.js";

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
  const compiled = new WeakMap<JsonObject, SchemaCheck>();
  return {
    check(action, tool): string | undefined {
      if (!isToolAction(action) || tool?.inputSchema === undefined) return undefined;
      const { server } = action.meta;
      if (tool.server !== server || tool.name !== action.name)
        throw new Error("the definition that came with the call is another tool's");
      const known = compiled.get(tool.inputSchema);
      const check =
        known ??
        compileSchemaCheck(tool.inputSchema, (reason) =>
          log(
            `[${server}] arguments of tool "${logText(action.name)}" are not checked against its schema: ${reason}`,
          ),
        );
      if (known === undefined) compiled.set(tool.inputSchema, check);
      return check(action.args, JSON.stringify(action.args).length);
    },
  };
}
