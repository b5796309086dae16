/** Examination: one thing that `acp doctor` looks at, as data. Types only. */
import type { DoctorContext } from "./context.js";
import type { Found } from "./finding.js";

/** One thing that is looked at. */
export interface Examination {
  /** Stable. */
  readonly id: string;
  /** What it looks at, for a person. */
  readonly looksAt: string;
  /** Resolves with what is wrong; with nothing where all is well. Changes nothing. */
  readonly look: (context: DoctorContext) => Promise<readonly Found[]>;
  /** Resolves with what a person should know though nothing is wrong: a sentence each. */
  readonly tell?: (context: DoctorContext) => Promise<readonly string[]>;
}
