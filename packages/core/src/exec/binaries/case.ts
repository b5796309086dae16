/**
 * Case: one call that is being judged, and the words in which it is reported.
 */
import { escapeText } from "../../approval/escape.js";
import { review } from "../findings.js";
import type { Report } from "../findings.js";
import type { Place } from "../place.js";
import type { Span } from "../tree.js";
import type { Why } from "./grammar.js";
import type { Topic } from "./table.js";

/** What the parts of the judge pass on. */
export interface Case {
  /** Starts every rule id: `git`. */
  readonly program: string;
  /** In messages: `git log`. */
  readonly name: string;
  /** Of the whole call. */
  readonly span: Span;
  readonly place: Place;
  readonly report: Report;
}

const SHOWN_MAX = 60;
const LIFTABLE: ReadonlySet<Topic> = new Set(["change", "network", "endless", "unknown"]);

/** A program's name as the first part of a rule id. */
function ruleName(program: string): string {
  if (program === "[") return "test";
  return program === "." ? "source" : program.toLowerCase().replace(/[^a-z0-9-]/g, "-");
}

/** A piece of the command for a message: cut short, with everything escaped that could hide or reorder. */
export function shown(text: string): string {
  return `\`${escapeText(text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text)}\``;
}

/** Reports why `what` (a program, `sort --output`) needs a person. */
export function say(of: Case, { topic, text }: Why, at: { readonly span: Span; readonly what?: string }): void {
  const finding = review("safe-binaries", {
    ruleId: `${ruleName(of.program)}.${topic}`,
    span: at.span,
    message: `${shown(at.what ?? of.name)} ${text}`,
  });
  of.report(LIFTABLE.has(topic) ? { ...finding, isLiftable: true } : finding);
}
