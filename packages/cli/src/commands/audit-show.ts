/**
 * `acp audit show`: the last events of a log, or of all logs of the home by time.
 */
import { readAuditLog } from "@acp/audit";
import type { AuditEvent } from "@acp/audit";
import { ConsentError, escapeText, isoTime } from "@acp/core";
import { auditFilesFor } from "../audit-files.js";
import type { Run } from "../command.js";
import { homePath } from "../home-source.js";
import type { Printer, Tone } from "../printer.js";

const LIMIT = 20;

/** Runs the command. */
export const auditShow: Run = async ({ operands, values, io, print }) => {
  const limit = readLimit(values.limit);
  const files = await auditFilesFor(operands[0], homePath({ values, io }));
  const events = await lastEvents(files, limit);
  if (print.json) for (const event of events) print.result(event, () => []);
  else print.result(undefined, () => events.map((event) => describe(event, print)));
  return "ok";
};

function readLimit(text: string | undefined): number {
  if (text === undefined) return LIMIT;
  if (!/^\d{1,9}$/.test(text))
    throw new ConsentError("options_invalid", `Cannot read --limit "${text}": write a whole number; 0 shows all`);
  return Number(text) === 0 ? Number.POSITIVE_INFINITY : Number(text);
}

/** The newest `limit` events of all files, oldest first. Each file is in order already, so no more than `limit` of each are kept. */
async function lastEvents(files: readonly string[], limit: number): Promise<readonly AuditEvent[]> {
  const kept: AuditEvent[] = [];
  for (const file of files) {
    const tail: AuditEvent[] = [];
    for await (const event of readAuditLog(file)) {
      tail.push(event);
      if (tail.length > 2 * limit) tail.splice(0, tail.length - limit);
    }
    kept.push(...tail.slice(-limit));
  }
  return kept.sort((a, b) => (a.atMs === b.atMs ? a.seq - b.seq : a.atMs - b.atMs)).slice(-limit);
}

const TONES: Readonly<Record<string, Tone>> = {
  allow: "green",
  deny: "red",
  approved: "green",
  approved_with_modifications: "green",
  denied: "red",
};

function describe(event: AuditEvent, print: Printer): string {
  const { atMs, eventType, tool, decision, policyRule, requestId, agent } = event;
  const tone = TONES[decision];
  const shown = tone === undefined ? escapeText(decision) : print.tone(tone, escapeText(decision));
  const rest = [policyRule, requestId, agent].filter((text) => text !== "").map(escapeText);
  const words = [
    print.tone("dim", isoTime(atMs)),
    escapeText(eventType).padEnd(22),
    escapeText(tool),
    shown,
    print.tone("dim", rest.join(" ")),
    detailOf(event),
  ];
  return words.filter((text) => text !== "").join("  ");
}

/** What a notice says, or why a question ended as it did. */
function detailOf({ eventType, metadata }: AuditEvent): string {
  const { text, reason } = metadata;
  if (typeof text === "string") return escapeText(text);
  return typeof reason === "string" && eventType.startsWith("consent_") ? escapeText(reason) : "";
}
