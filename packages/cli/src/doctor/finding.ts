/**
 * Findings: what an examination found, as data. Its code is stable; what it means and how to mend it
 * is one row of the table of codes. Pure. Format: spec/schemas/doctor.schema.json.
 */
import type { Level } from "./code-row.js";
import { FINDINGS } from "./codes.js";
import type { FindingCode } from "./codes.js";

/** What was found. Plain JSON data. */
export interface Finding {
  readonly code: FindingCode;
  readonly level: Level;
  /** What is so: one sentence, without a secret. */
  readonly found: string;
  /** The file, folder or socket that it is about. */
  readonly path?: string;
  /** Why it matters. */
  readonly why: string;
  /** What mends it. */
  readonly command: string;
  /** Whether `acp doctor --fix` can mend it. */
  readonly can_fix: boolean;
}

/** How a finding is mended. */
export interface Mend {
  /** What would be done: a sentence that follows "Shall I". */
  readonly what: string;
  /**
   * When the audit log learns of it: before it is done, after all is done, or by itself, where what
   * is done writes an event of its own.
   */
  readonly note: "before" | "after" | "own";
  /** Does it; resolves with what was done. */
  run(): Promise<string>;
}

/** A finding, with what mends it where something can. */
export interface Found {
  readonly finding: Finding;
  readonly mend?: Mend;
}

/** What a finding says besides its code. */
export interface FoundParts {
  readonly found: string;
  readonly path?: string;
  /** In place of the table's command. */
  readonly command?: string;
  readonly mend?: Mend;
}

/** Makes a finding from its row. */
export function makeFound(code: FindingCode, { found, path, command, mend }: FoundParts): Found {
  const row = FINDINGS[code];
  return {
    finding: {
      code,
      level: row.level,
      found,
      ...(path !== undefined && { path }),
      why: row.why,
      command: (command ?? row.command).replaceAll("PATH", shellWord(path ?? "PATH")),
      can_fix: mend !== undefined,
    },
    ...(mend !== undefined && { mend }),
  };
}

/** A word that a shell reads as this text. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The worst of some levels. */
export function worstOf(levels: readonly Level[]): Level {
  if (levels.includes("error")) return "error";
  return levels.includes("warning") ? "warning" : "ok";
}
