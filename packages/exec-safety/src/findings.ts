/**
 * Findings: what the parts of the engine collect on their way. A part adds; none takes away.
 */
import type { SafetyReason } from "./safety.js";

/** Letters to put into the command so that it needs no person for one reason. */
export interface Edit {
  readonly at: number;
  readonly text: string;
  /** What stands right before it: where it does not, the place is not the one that was meant. */
  readonly behind: string;
  /**
   * What it does, for a person, behind "it": `keeps npm from …`. Left out, it leaves out secrets.
   */
  readonly reason?: string;
}

/** One reason, before the most severe ones are chosen. */
export interface Finding extends SafetyReason {
  /**
   * Whether an entry of the operator's allowlist may lift it: only for a program, a subcommand, a
   * flag or an operand that is merely not on our list. Never for what can run another program,
   * write a file, leave the project, read a secret or is not known before it runs.
   */
  readonly isLiftable?: true;
  /** What would mend it, where anything would. */
  readonly edits?: readonly Edit[];
}

/** Takes findings. */
export type Report = (finding: Finding) => void;

/** A finding that asks for a person. */
export function review(
  layer: SafetyReason["layer"],
  reason: Pick<SafetyReason, "ruleId" | "span" | "message">,
): Finding {
  return {
    ruleId: reason.ruleId,
    level: "needs-review",
    layer,
    span: reason.span,
    message: reason.message,
  };
}
