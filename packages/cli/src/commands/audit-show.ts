/**
 * `acp audit show`: the last events of a log, or of all logs of the home by time, and those that
 * follow.
 */
import { readAuditLog, readNextSeq } from "@acp/audit";
import type { AuditEvent, AuditFilter } from "@acp/audit";
import { ConsentError, escapeText, isoTime } from "@acp/core";
import { auditFilesFor, listAuditFiles } from "../logs/log-files.js";
import { readFilter } from "../logs/log-filter.js";
import type { Invocation, Run } from "../command.js";
import type { Exit } from "../exit-codes.js";
import { followLogs } from "../logs/follow-logs.js";
import { homePath } from "../home/home-source.js";
import type { Printer, Tone } from "../printer.js";
import { selectFiles } from "../select-files.js";

const LIMIT = 20;

/** Runs the command. */
export const auditShow: Run = async (invocation) => {
  const { values, flags, io, print } = invocation;
  const limit = readLimit(values.limit);
  const filter = readFilter(invocation, Date.now());
  const named = await selectFiles(invocation, "audit logs");
  if (flags.has("follow")) return follow(invocation, named, { limit, filter });
  const files = await auditFilesFor(named, homePath({ values, io }));
  const events = await lastEvents(files, { limit, filter });
  if (print.json) for (const event of events) print.result(event, () => []);
  else print.result(undefined, () => events.map((event) => describe(event, print)));
  return "ok";
};

function readLimit(text: string | undefined): number {
  if (text === undefined) return LIMIT;
  if (!/^\d{1,9}$/.test(text))
    throw new ConsentError(
      "options_invalid",
      `Cannot read --limit "${text}": write a whole number; 0 shows all`,
    );
  return Number(text) === 0 ? Number.POSITIVE_INFINITY : Number(text);
}

/**
 * The newest `limit` events of all files, oldest first. Each file is in order already, so no more
 * than `limit` of each are kept.
 */
async function lastEvents(
  files: readonly string[],
  { limit, filter }: Wanted,
): Promise<readonly AuditEvent[]> {
  const kept: AuditEvent[] = [];
  for (const file of files) {
    const tail: AuditEvent[] = [];
    for await (const event of readAuditLog(file, { filter })) {
      tail.push(event);
      if (tail.length > 2 * limit) tail.splice(0, tail.length - limit);
    }
    kept.push(...tail.slice(-limit));
  }
  return kept.sort((a, b) => (a.atMs === b.atMs ? a.seq - b.seq : a.atMs - b.atMs)).slice(-limit);
}

interface Wanted {
  readonly limit: number;
  readonly filter: AuditFilter;
}

/**
 * What is there, then every event as it becomes durable, until a signal; also of logs that appear
 * meanwhile.
 */
async function follow(
  { values, io, print }: Invocation,
  named: readonly string[],
  wanted: Wanted,
): Promise<Exit> {
  const signal = io.onStop();
  const home = homePath({ values, io });
  const list = (): Promise<readonly string[]> =>
    named.length === 0 ? listAuditFiles(home) : Promise.resolve(named);
  const there = await list();
  const show = (event: AuditEvent): void => print.result(event, () => [describe(event, print)]);
  // Looked up before the events are read: what is written in between comes twice, not never.
  const fromSeqs = new Map(
    await Promise.all(there.map(async (file) => [file, await readNextSeq(file)] as const)),
  );
  const shown = await lastEvents(there, wanted);
  for (const event of shown) show(event);
  const hashes = new Set(shown.map(({ hash }) => hash));
  const onEvent = (event: AuditEvent): void => {
    if (!hashes.has(event.hash)) show(event);
  };
  await followLogs({ list, fromSeqs, filter: wanted.filter, signal, onEvent });
  return "ok";
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
