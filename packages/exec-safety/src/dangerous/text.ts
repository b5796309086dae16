/**
 * Text: a text that a shell reads while the line runs, parsed again and walked like the line
 * itself.
 */
import { SAFETY_LIMITS } from "../config/limits.js";
import { parseShell } from "../parse/parse-shell.js";
import type { Span } from "../parse/tree.js";
import { NOTHING, worse, type Feed, type Source } from "./feed.js";
import { DEPTH_MAX, type Spot, type Search } from "./search.js";

/** A text that a shell reads. */
export interface InnerText {
  readonly text: string;
  readonly span: Span;
  /** The most suspicious source of its unknown parts. */
  readonly worst?: Source;
}

/** Walks a text. Everything found in it is reported where the text stands. */
export function visitText(
  search: Search,
  spot: Spot,
  { text, span, worst = "none" }: InnerText,
): Feed {
  if (search.depth >= DEPTH_MAX || search.budget.chars < text.length || search.budget.commands <= 0)
    return { source: "program" };
  search.budget.chars -= text.length;
  const parsed = parseShell(text, SAFETY_LIMITS);
  const script = "refused" in parsed ? parsed.partial : parsed.script;
  if (script === undefined) return NOTHING;
  return search.visit(
    {
      ...search,
      depth: search.depth + 1,
      span,
      taint: worse(search.taint, worst),
      report: (finding) => search.report({ ...finding, span }),
    },
    script,
    spot,
  );
}
