/**
 * What judging needs of the calls under way: a way to start one, and what is known of the client's
 * tasks and of what servers need.
 */
import type { RequestRoom } from "../in-flight.js";
import type { CallJob, ToolCall } from "../tool-call.js";
import type { Asked } from "./asked.js";
import type { Tasks } from "./tasks.js";

/** Shared by all that judges for one client. */
export interface Judging {
  /** Starts what is no call of the client; `send` gets its answer. */
  begin(job: CallJob, send: (line: Buffer) => void): ToolCall;
  /** The client's tasks, by the names of their servers. */
  readonly tasks: Tasks<string>;
  /** What servers need before they answer. */
  readonly asked: Asked;
  /** What is judged beside calls takes a place here, as they do. */
  readonly room?: RequestRoom | undefined;
}
