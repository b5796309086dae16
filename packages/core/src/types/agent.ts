/** Agent: who acts, and the tool it calls, as they are presented. Types only. */
import type { JsonObject } from "../json/value.js";

/** The process whose action is judged. Never trusted; named by id. */
export interface Agent {
  /** Names the agent in policies, questions and the log; at most 256 characters. */
  readonly id: string;
  /** What people call it; never matched by a rule. */
  readonly name?: string;
  /** How it was started, for the person who is asked. */
  readonly command?: string;
  /** Ids of the agents that started it, nearest first. */
  readonly parents?: readonly string[];
}

/** A tool as its server presents it. Written by the server, so it describes and never permits. */
export interface ToolDefinition {
  /** Name of the server, as the host configured it. */
  readonly server: string;
  /** The tool's name on that server. */
  readonly name: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema?: JsonObject;
  /** Hints such as MCP's `readOnlyHint`. */
  readonly annotations?: JsonObject;
  /** Whether the definition is the one that was seen before; left out where nobody keeps track. */
  readonly pinned?: "new" | "same" | "changed";
}
