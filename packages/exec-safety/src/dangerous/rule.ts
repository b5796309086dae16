/**
 * Rule: one class of clearly destructive or hostile commands, as data with examples in both
 * directions. A test feeds every example through the engine: each of `dangerous` must get this
 * rule's id, none of `not` may be dangerous.
 */
import type { Call } from "./call.js";

/** A class of danger. */
export interface Danger {
  readonly ruleId: string;
  /** What it does and why that is dangerous, for a person. */
  readonly message: string;
  /** Commands of this class. */
  readonly dangerous: readonly string[];
  /** Ordinary commands that look like it. */
  readonly not: readonly string[];
}

/** A class that is told by a program and its arguments. */
export interface ProgramRule extends Danger {
  readonly programs: readonly string[];
  readonly applies: (call: Call) => boolean;
}
