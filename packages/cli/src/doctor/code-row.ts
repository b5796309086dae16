/** Code row: what the table of codes says of one code. Types only. */

/** How bad a finding is. */
export type Level = "ok" | "warning" | "error";

/** What a code means. */
export interface CodeRow {
  readonly level: Exclude<Level, "ok">;
  /** Why it matters: one sentence. */
  readonly why: string;
  /** What mends it; `PATH` stands for the finding's path. */
  readonly command: string;
}
