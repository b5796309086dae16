/**
 * Catalog: the input schemas of one server's tools, learnt from `tools/list` results as they pass by.
 * Where a call comes before any list, the proxy asks once itself. What it does not know it does not check.
 */
import type { JsonObject } from "@acp/core";
import { LIST_PAGES_MAX, TOOLS_MAX } from "./limits.js";
import { logText } from "./log-text.js";
import { isRecord } from "./message.js";
import { compileSchemaCheck } from "./schema-check.js";
import type { SchemaCheck } from "./schema-check.js";

/** Asks the server for one page of its tools; `undefined` where it does not answer in time. */
export type ListPage = (cursor: string | undefined) => Promise<unknown>;

/** The tools of one server. */
export interface Catalog {
  /** Takes the `result` of a `tools/list`. */
  learn(result: unknown): void;
  /** The server says that its tools changed. */
  forget(): void;
  /**
   * What is wrong with a call's arguments; `undefined` where nothing is known to be.
   *
   * @param list - How to ask the server; left out while it must not be asked (before the handshake is over).
   */
  check(
    tool: string,
    args: JsonObject,
    options: { readonly argumentChars: number; readonly list: ListPage | undefined },
  ): Promise<string | undefined>;
}

interface Entry {
  readonly schema: unknown;
  check: Promise<SchemaCheck> | undefined;
}

/** An empty catalog. */
export function createCatalog(server: string, log: (line: string) => void): Catalog {
  let entries = new Map<string, Entry>();
  /** Set once a list was seen or asked for. */
  let listed: Promise<void> | undefined;

  const learn = (result: unknown): void => {
    listed ??= Promise.resolve();
    const tools: unknown = isRecord(result) ? result.tools : undefined;
    if (!Array.isArray(tools)) return;
    for (const tool of tools as readonly unknown[]) {
      if (!isRecord(tool) || typeof tool.name !== "string") continue;
      if (entries.size >= TOOLS_MAX) return log(`[${server}] has more than ${TOOLS_MAX} tools; the arguments of the rest are not checked`);
      entries.set(tool.name, { schema: tool.inputSchema, check: undefined });
    }
  };
  const ask = async (list: ListPage): Promise<void> => {
    let cursor: string | undefined;
    for (let page = 0; page < LIST_PAGES_MAX; page++) {
      const result = await list(cursor);
      learn(result);
      if (!isRecord(result) || typeof result.nextCursor !== "string") return;
      cursor = result.nextCursor;
    }
  };
  const compile = (tool: string, schema: unknown): Promise<SchemaCheck> =>
    compileSchemaCheck(schema, (reason) =>
      log(`[${server}] arguments of tool "${logText(tool)}" are not checked against its schema: ${reason}`),
    );

  return {
    learn,
    forget(): void {
      entries = new Map();
      listed = undefined;
    },
    async check(tool, args, { argumentChars, list }): Promise<string | undefined> {
      if (!entries.has(tool) && list !== undefined) await (listed ??= ask(list));
      const entry = entries.get(tool);
      if (entry === undefined) return undefined;
      entry.check ??= compile(tool, entry.schema);
      return (await entry.check)(args, argumentChars);
    },
  };
}
