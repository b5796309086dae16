/**
 * Walk: what the parts of the safe walk share while they go through one command line.
 */
import type { BinaryTable } from "../tables/table.js";
import { review } from "../findings.js";
import type { Finding, Report } from "../findings.js";
import type { Allowlist } from "../config/allowlist.js";
import type { State } from "./state.js";
import type { Command, Script, Span } from "../parse/tree.js";

/** One safe walk. */
export interface Walk {
  readonly report: Report;
  readonly extra: BinaryTable | undefined;
  readonly allowlist: Allowlist | undefined;
  /** The commands that an entry of the allowlist lifted, with its pattern. */
  readonly lifted: Map<Command, string>;
  /** Judges a script that runs in a shell of its own. */
  readonly script: (script: Script, state: State) => void;
}

/** A finding of the shell's own syntax. */
export function syntax(ruleId: string, span: Span, message: string): Finding {
  return review("shell-syntax", { ruleId, span, message });
}
