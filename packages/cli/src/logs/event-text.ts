/**
 * Event text: one event of a log as `acp audit show` prints it, on a line, and below it what was
 * called with which arguments, and who answered.
 */
import type { AuditEvent } from "@acp/audit";
import { canonicalJson, escapeText } from "@acp/core";
import type { JsonValue } from "@acp/core";
import { readStateMarks } from "@acp/core/unstable";
import type { Printer, Tone } from "../printer.js";
import { showLocal } from "../why/zone.js";

/** Of longer arguments the rest is left to --json. */
const ARGUMENTS_CHARS_MAX = 1_000;
const INDENT = "    ";

const TONES: Readonly<Record<string, Tone>> = {
  allow: "green",
  deny: "red",
  approved: "green",
  approved_with_modifications: "green",
  denied: "red",
};

/** The lines of an event. */
export function eventLines(event: AuditEvent, print: Pick<Printer, "tone">): readonly string[] {
  const details = detailsOf(event).map((line) => print.tone("dim", `${INDENT}${line}`));
  return [headLine(event, print), ...details];
}

function headLine(event: AuditEvent, print: Pick<Printer, "tone">): string {
  const { atMs, eventType, tool, decision, policyRule, requestId, agent } = event;
  const tone = TONES[decision];
  const shown = tone === undefined ? escapeText(decision) : print.tone(tone, escapeText(decision));
  const rest = [policyRule, requestId, agent].filter((text) => text !== "").map(escapeText);
  const words = [
    print.tone("dim", showLocal(atMs)),
    escapeText(eventType).padEnd(22),
    escapeText(tool),
    shown,
    print.tone("dim", rest.join(" ")),
    saidBy(event),
  ];
  return words.filter((text) => text !== "").join("  ");
}

/** What a notice says, which file was saved or restored, or why a question ended as it did. */
function saidBy({ eventType, metadata }: AuditEvent): string {
  const { text, reason, by } = metadata;
  if (typeof text === "string") return escapeText(text);
  if (eventType === "state_saved")
    return readStateMarks({ eventType, metadata })
      .map(({ kind, counter }) => `${kind}, save ${counter}`)
      .join();
  if (eventType === "home_restored") {
    const kinds = readStateMarks({ eventType, metadata }).map(({ kind }) => kind);
    return `${kinds.join(", ")} by ${textsOf(by).join()}: ${textsOf(reason).join()}`;
  }
  return typeof reason === "string" && eventType.startsWith("consent_") ? escapeText(reason) : "";
}

/** Where a call goes, with what, and who answered; nothing of an event that says none of it. */
function detailsOf({ eventType, metadata }: AuditEvent): readonly string[] {
  const { kind, server, parameters, approved_parameters: approved } = metadata;
  if (eventType === "gate_notice") return [];
  return [
    ...textLine(kind === "http" ? "host" : "server", server),
    ...argumentLine("arguments", parameters),
    ...argumentLine("approved arguments", approved),
    ...approverLine(metadata),
  ];
}

function textLine(name: string, value: JsonValue | undefined): readonly string[] {
  return typeof value === "string" && value !== "" ? [`${name}: ${escapeText(value)}`] : [];
}

function argumentLine(name: string, value: JsonValue | undefined): readonly string[] {
  if (value === undefined || value === null) return [];
  const text = escapeText(canonicalJson(value));
  const more = text.length - ARGUMENTS_CHARS_MAX;
  return [
    more > 0
      ? `${name}: ${text.slice(0, ARGUMENTS_CHARS_MAX)}… (${more} more characters; --json shows all)`
      : `${name}: ${text}`,
  ];
}

function approverLine({
  approvers,
  approver,
  channels,
  channel,
}: AuditEvent["metadata"]): readonly string[] {
  const who = textsOf(approvers ?? approver);
  const how = textsOf(channels ?? channel);
  if (who.length === 0) return [];
  return [`approver: ${who.join(", ")}${how.length === 0 ? "" : ` (${how.join(", ")})`}`];
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  const texts = Array.isArray(value) ? value : [value];
  return texts.filter((text) => typeof text === "string").map(escapeText);
}
