/** Agent: who acts, and the tool it calls, as they are presented. Types only. */
import type { JsonObject } from "../json/value.js";

/** The process whose actions are judged. Never trusted; named by its id. */
export interface Agent {
  /** Names the agent in policies, questions and the log; at most 256 characters. */
  readonly id: string;
  /** What people call it; no rule matches it. Its id unless given. */
  readonly name?: string;
  /** How it was started, for the person who is asked; at most 4,096 characters. */
  readonly command?: string;
  /** Ids of the agents that started it, nearest first; at most 64. */
  readonly parents?: readonly string[];
}

/** A tool as its server describes it. The server wrote it, so it informs and never permits. */
export interface ToolDefinition {
  /** Name of the server, as the host configured it. */
  readonly server: string;
  /** The tool's name on that server. */
  readonly name: string;
  /** JSON Schema of the arguments; absent where the server gives none. */
  readonly inputSchema?: JsonObject;
  /** Hints such as MCP's `readOnlyHint`. */
  readonly annotations?: JsonObject;
  /**
   * Whether the definition is the one seen before; absent where nobody keeps track. A call of a tool
   * whose definition is `changed` is denied with `definition_changed`, and one whose definition the
   * server did not give with `definition_unknown`.
   */
  readonly pinned?: "new" | "same" | "changed" | "unknown";
  /**
   * What the host noticed about the definition, for the person who is asked: at most 8 notes of 300
   * characters. A note informs; it allows nothing.
   */
  readonly notes?: readonly string[];
}
