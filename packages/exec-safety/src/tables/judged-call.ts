/**
 * Judged call: one call that is being judged, and the words in which it is reported.
 */
import { review } from "../findings.js";
import type { Edit, Report } from "../findings.js";
import type { RunPlace } from "../config/run-place.js";
import type { Output } from "../safe/state.js";
import type { Span } from "../parse/tree.js";
import type { Why } from "./table.js";
import { shown } from "../text/shown.js";
import type { Topic } from "./table.js";

/** What the parts of the judge pass on. */
export interface JudgedCall extends Output {
  /** Starts every rule id: `git`. */
  readonly program: string;
  /** In messages: `git log`. */
  readonly name: string;
  /** Of the whole call. */
  readonly span: Span;
  readonly place: RunPlace;
  readonly report: Report;
  /** Whether its input comes from a pipe or a file. */
  readonly isFed: boolean;
}

const LIFTABLE: ReadonlySet<Topic> = new Set(["change", "network", "endless", "unknown"]);

/** A program's name as the first part of a rule id. */
function ruleName(program: string): string {
  if (program === "[") return "test";
  return program === "." ? "source" : program.toLowerCase().replace(/[^a-z0-9-]/g, "-");
}

/** Where something is, its name, and what would mend it. */
interface Spot {
  readonly span: Span;
  readonly what?: string;
  readonly edits?: readonly Edit[];
}

/** Reports why `what` (a program, `sort --output`) needs a person. */
export function say(of: JudgedCall, { topic, text }: Why, { span, what, edits }: Spot): void {
  const finding = review("safe-binaries", {
    ruleId: `${ruleName(of.program)}.${topic}`,
    span,
    message: `${shown(what ?? of.name)} ${text}`,
  });
  of.report({
    ...finding,
    ...(LIFTABLE.has(topic) && { isLiftable: true }),
    ...(edits !== undefined && { edits }),
  });
}
