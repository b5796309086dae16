/**
 * Wire: what a hook's process and the resident say to each other. The resident greets with its
 * build; a process of the same build sends one line about itself and then the event as it came; the
 * resident answers with one line. Imports nothing of ours: a hook must start fast.
 */
import { buildOf } from "../build-of.js";

/** The socket's name in `<home>/run`. Not `.sock`: those are the approvers'. */
export const HOOK_SOCKET = "hooks";

/** Variables that say where and how agents run commands; no other leaves a hook's process. */
export const HOOK_VARIABLES = [
  "CLAUDE_CODE_SHELL",
  "CLAUDE_PROJECT_DIR",
  "GEMINI_PROJECT_DIR",
  "SHELL",
] as const;

/** Bytes of an event, and of the line before it. */
export const HOOK_BYTES_MAX: number = 64 * 1024 * 1024;

/** Who asks. */
export interface HookHead {
  /** The words after `acp`. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** How many bytes of event follow. */
  readonly bytes: number;
}

/** What the hook's process writes, and its exit code. */
export interface HookWords {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/**
 * What the resident greets with: its protocol, and which files it was loaded from. Another
 * installation, or one that was changed since, differs.
 *
 * @param entry - The path of the built library's entry.
 */
export function greetingOf(entry: string): string {
  return `acp-hook 1 ${buildOf(entry)}\n`;
}
