/**
 * What the demo's agent does, in order, and what the scripted approver answers.
 */
import type { Decision } from "@acp/core";

/** One call of the agent. */
export interface Step {
  readonly tool: string;
  readonly args: Readonly<Record<string, string>>;
  /** How the call has to end without a terminal. */
  readonly ends: "allowed" | "approved" | "edited" | "denied by policy" | "denied by a person";
  /** What the scripted approver answers; left out where nobody may be asked. */
  readonly answer?: {
    readonly decision: Decision;
    readonly modifications?: Readonly<Record<string, string>>;
    readonly reason?: string;
  };
  /** What a person may try, and what they type for it at a terminal. */
  readonly hint?: { readonly what: string; readonly key: string };
}

/** The agent's calls. */
export const STEPS: readonly Step[] = [
  { tool: "read_text_file", args: { path: "project/notes.txt" }, ends: "allowed" },
  {
    tool: "write_file",
    args: { path: "project/todo.txt", content: "Call Ada" },
    ends: "approved",
    answer: { decision: "approved" },
    hint: { what: "say yes", key: "a" },
  },
  {
    tool: "move_file",
    args: { source: "project/notes.txt", destination: "outside/notes.txt" },
    ends: "denied by policy",
  },
  {
    tool: "write_file",
    args: { path: "project/announcement.txt", content: "We release on Friday" },
    ends: "edited",
    answer: {
      decision: "approved_with_modifications",
      modifications: { path: "project/announcement.txt", content: "We release on Monday" },
    },
    hint: { what: "change the text before you say yes", key: "e" },
  },
  {
    tool: "write_file",
    args: { path: "project/notes.txt", content: "" },
    ends: "denied by a person",
    answer: { decision: "denied", reason: "keep my notes" },
    hint: { what: "say no", key: "d" },
  },
];
