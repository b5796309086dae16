/** Agent: who acts, and the tool it calls, as they are presented. Types only. */
import type { JsonObject } from "../json/value.js";

/** The process whose action is judged. Never trusted; named by id. */
export interface Agent {
  readonly id: string;
  readonly name?: string;
  /** How it was started, for the person who is asked. */
  readonly command?: string;
  /** Ids of the agents that started it, nearest first. */
  readonly parents?: readonly string[];
}

/** A tool as its server presents it. Written by the server, so it describes and never permits. */
export interface ToolDefinition {
  readonly server: string;
  readonly name: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema?: JsonObject;
  /** Hints such as MCP's `readOnlyHint`. */
  readonly annotations?: JsonObject;
  /** Whether the definition is the one that was seen before; left out where nobody keeps track. */
  readonly pinned?: "new" | "same" | "changed";
}
