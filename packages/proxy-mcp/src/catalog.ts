/**
 * Catalog: the definitions of one server's tools, learnt from `tools/list` results as they pass by.
 * Where a call comes before any list, the proxy asks once itself. What it does not know it does not
 * present.
 */
import { isConsentError, parseToolDefinition, type ToolDefinition } from "@acp/core";
import { LIST_PAGES_MAX, TOOLS_MAX } from "./limits.js";
import { turnOf } from "./loop-turns.js";
import type { LoopTurns } from "./loop-turns.js";
import { logText } from "./log-text.js";
import { isRecord } from "./message.js";

/** Asks the server for one page of its tools; `undefined` where it does not answer in time. */
export type ListPage = (cursor: string | undefined) => Promise<unknown>;

/** The tools of one server. */
export interface Catalog {
  /** Takes the `result` of a `tools/list`. */
  learn(result: unknown): void;
  /** The server says that its tools changed. */
  forget(): void;
  /**
   * A tool as the server presents it; `undefined` where nothing is known of it.
   *
   * @param list - How to ask the server; left out while it must not be asked (before the handshake
   *   is over).
   */
  find(tool: string, list: ListPage | undefined): Promise<ToolDefinition | undefined>;
}

interface Entry {
  readonly inputSchema: unknown;
  readonly annotations: unknown;
  /** Made once, so that what is compiled from its schema is, too. */
  definition: ToolDefinition | undefined;
}

/**
 * The definition with what of it is usable; a schema that is not is as good as none, and said once.
 */
function definitionOf(
  { server, name }: { readonly server: string; readonly name: string },
  { inputSchema, annotations }: Entry,
  log: (line: string) => void,
): ToolDefinition {
  const parts = {
    ...(isRecord(annotations) ? { annotations } : {}),
    ...(isRecord(inputSchema) ? { inputSchema } : {}),
  };
  try {
    return parseToolDefinition({ server, name, ...parts });
  } catch (error) {
    if (!isConsentError(error)) throw error;
    log(
      `[${server}] arguments of tool "${logText(name)}" are not checked against its schema: ${logText(error.message)}`,
    );
    return parseToolDefinition({ server, name });
  }
}

/** What a catalog needs of its proxy. */
export interface CatalogParts {
  readonly log: (line: string) => void;
  readonly turns: LoopTurns;
}

/** An empty catalog. */
export function createCatalog(server: string, { log, turns }: CatalogParts): Catalog {
  let entries = new Map<string, Entry>();
  /** Set once a list was seen or asked for. */
  let listed: Promise<void> | undefined;

  const learn = (result: unknown): void => {
    listed ??= Promise.resolve();
    const tools: unknown = isRecord(result) ? result.tools : undefined;
    if (!Array.isArray(tools)) return;
    for (const tool of tools as readonly unknown[]) {
      if (!isRecord(tool) || typeof tool.name !== "string") continue;
      if (entries.size >= TOOLS_MAX)
        return log(
          `[${server}] has more than ${TOOLS_MAX} tools; the arguments of the rest are not checked`,
        );
      entries.set(tool.name, {
        inputSchema: tool.inputSchema,
        annotations: tool.annotations,
        definition: undefined,
      });
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

  return {
    learn,
    forget(): void {
      entries = new Map();
      listed = undefined;
    },
    async find(tool, list): Promise<ToolDefinition | undefined> {
      if (!entries.has(tool) && list !== undefined) {
        await (listed ??= ask(list));
        // All calls that waited for it would go on in one turn of the loop.
        await turnOf(turns);
      }
      const entry = entries.get(tool);
      if (entry === undefined) return undefined;
      return (entry.definition ??= definitionOf({ server, name: tool }, entry, log));
    },
  };
}
