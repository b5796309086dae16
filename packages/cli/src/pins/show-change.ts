/**
 * Show a change: how what a server presents differs from what was pinned, for a person to judge.
 * Nothing of it is hidden: every line is escaped, and none is left out. Pure.
 */
import { escapeText, quoteText } from "@acp/core";
import type { ToolPin } from "@acp/home";
import { findingsOf, instructionFindings } from "@acp/proxy-mcp";
import type { ToolFinding } from "@acp/proxy-mcp";
import { unifiedDiff } from "../review/line-diff.js";

/** A long text is compared sentence by sentence. */
const SENTENCES = /(?<=[.!?] |\\n|\\r)(?=.)/u;
const CONTINUED = "  ↪ ";

/** `tool "add"`, or `instructions`. */
export const nameOfPin = ({ kind, name }: Pick<ToolPin, "kind" | "name">): string =>
  kind === "instructions" ? kind : `${kind} ${quoteText(name)}`;

/**
 * The difference of two texts, each the canonical JSON that a pin is of.
 *
 * @param before - Left out where it was not kept.
 */
export function showChange(before: string | undefined, after: string): readonly string[] {
  const [old, now] = [before === undefined ? "" : rowsOf(before), rowsOf(after)];
  return unifiedDiff(old, now).map(escapeText);
}

/** What is odd about a text, by its canonical JSON. */
export function findingsIn({ kind }: Pick<ToolPin, "kind">, text: string): readonly ToolFinding[] {
  const value: unknown = JSON.parse(text);
  return kind === "instructions" && typeof value === "string"
    ? instructionFindings(value)
    : findingsOf(value);
}

/** A finding as a line. */
export const showFinding = ({ weight, text }: ToolFinding): string =>
  `${weight === "high" ? "!" : "·"} ${escapeText(text)}`;

function rowsOf(text: string): string {
  const value: unknown = JSON.parse(text);
  const rows = JSON.stringify(value, undefined, 2)
    .split("\n")
    .map((line) => line.split(SENTENCES).join(`\n${CONTINUED}`));
  return `${rows.join("\n")}\n`;
}
