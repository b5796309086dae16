/** Wire: what of a hook's process its answer needs. Imports nothing: a hook must start fast. */

/** Variables that say where and how agents run commands; no other leaves a hook's process. */
export const HOOK_VARIABLES = [
  "CLAUDE_CODE_SHELL",
  "CLAUDE_PROJECT_DIR",
  "GEMINI_PROJECT_DIR",
  "SHELL",
] as const;

/** Bytes of an event. */
export const HOOK_BYTES_MAX: number = 64 * 1024 * 1024;
