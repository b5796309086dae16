/**
 * Reasons: the findings that a person is shown, the most severe ones first.
 */
import { escapeText } from "./text/escape.js";
import type { Finding } from "./findings.js";
import { MESSAGE_CHARS_MAX, REASONS_MAX } from "./config/limits.js";
import { type CommandRisk, SAFETY_LAYERS, type SafetyLayer, type SafetyReason } from "./safety.js";

/** The level of all findings together. */
export function levelOf(findings: readonly Finding[]): CommandRisk {
  if (findings.length === 0) return "safe";
  return findings.some(({ level }) => level === "dangerous") ? "dangerous" : "needs-review";
}

/**
 * The findings without repetition, most severe first, then by place; never more than a person
 * reads.
 */
export function reasonsOf(findings: readonly Finding[]): readonly SafetyReason[] {
  if (findings.length === 0) return [];
  const seen = new Set<string>();
  const reasons: SafetyReason[] = [];
  for (const finding of [...findings].sort(bySeverity)) {
    const { ruleId, level, layer, span, message } = finding;
    const key = `${level} ${message}`;
    if (seen.has(key)) continue;
    seen.add(key);
    reasons.push({ ruleId, level, layer, span, message: shown(message) });
    if (reasons.length === REASONS_MAX) break;
  }
  return reasons;
}

/**
 * A message names what stands in the command: on one line, nothing hidden, and short where that is
 * long.
 */
function shown(message: string): string {
  const line = escapeText(message.slice(0, MESSAGE_CHARS_MAX));
  return line.length < MESSAGE_CHARS_MAX ? line : `${line.slice(0, MESSAGE_CHARS_MAX - 1)}…`;
}

function bySeverity(one: Finding, other: Finding): number {
  if (one.level !== other.level) return one.level === "dangerous" ? -1 : 1;
  return one.span.start === other.span.start
    ? one.span.end - other.span.end
    : one.span.start - other.span.start;
}

/** The layers that spoke, in their order. */
export function layersOf(findings: readonly Finding[], isLifted: boolean): readonly SafetyLayer[] {
  if (findings.length === 0 && !isLifted) return [];
  const spoke = new Set<SafetyLayer>(findings.map(({ layer }) => layer));
  if (isLifted) spoke.add("allowlist");
  return SAFETY_LAYERS.filter((layer) => spoke.has(layer));
}
