/**
 * Call history: the events of several logs of which suggestions are made, read without parsing what
 * is not wanted, which is nearly all.
 */
import { QUESTION_END_TYPES, scanAuditLog } from "@acp/audit";
import type { AuditEvent, ScannedLine, ScanOptions } from "@acp/audit";
import type { HistoryWanted, ReadHistory } from "@acp/suggest";

/** Which logs, and how. */
export interface HistoryParts extends ScanOptions {
  readonly files: readonly string[];
}

/** A history that counts. */
export interface CallHistory {
  readonly read: ReadHistory;
  /** Events of all logs, once they were read. */
  readonly events: () => number;
}

/** Nothing is read yet. */
export function createCallHistory({ files, ...options }: HistoryParts): CallHistory {
  let events = 0;
  return {
    events: () => events,
    async *read(wanted) {
      events = 0;
      for (const file of files) {
        const pick = wanted.isAnswersOnly ? pickAnswered() : pickConcerned(wanted);
        const count = (line: ScannedLine): readonly AuditEvent[] => {
          events += 1;
          return pick(line);
        };
        for await (const found of scanAuditLog(file, options, count)) yield* found;
      }
    },
  };
}

type Pick = (line: ScannedLine) => readonly AuditEvent[];

const NOTHING: readonly AuditEvent[] = [];
const ENDS: ReadonlySet<string> = new Set<string>(QUESTION_END_TYPES);
/** The end of a call that nobody was asked about. */
const DECIDED: ReadonlySet<string> = new Set([
  "policy_evaluated",
  "grant_used",
  "decision_adopted",
]);

/** Calls of which it is not known yet whether somebody is asked; the events of one stand together. */
const BEGUN_MAX = 1_000;
const BEGUN_BYTES_MAX: number = 32 * 1024 * 1024;

interface Begun {
  readonly event: () => AuditEvent;
  readonly size: number;
}

/** Questions, their ends, and the calls that they were about. */
function pickAnswered(): Pick {
  const begun = new Map<string, Begun>();
  let bytes = 0;
  const take = (call: string | undefined): Begun | undefined => {
    const taken = call === undefined ? undefined : begun.get(call);
    if (call !== undefined) begun.delete(call);
    bytes -= taken?.size ?? 0;
    return taken;
  };
  return (line) => {
    const { eventType } = line;
    if (eventType === "tool_call_intercepted") {
      const call = line.call();
      take(call);
      if (call !== undefined) begun.set(call, { event: line.keep(), size: line.size });
      bytes += call === undefined ? 0 : line.size;
      for (const [oldest] of begun) {
        if (begun.size <= BEGUN_MAX && bytes <= BEGUN_BYTES_MAX) break;
        take(oldest);
      }
      return NOTHING;
    }
    if (DECIDED.has(eventType)) {
      if (eventType !== "policy_evaluated" || line.decision() !== "ask") take(line.call());
      return NOTHING;
    }
    if (eventType === "consent_requested") {
      const asked = take(line.call());
      return asked === undefined ? [line.event()] : [asked.event(), line.event()];
    }
    return ENDS.has(eventType) ? [line.event()] : NOTHING;
  };
}

/** All calls of some tools, and how they ended. */
function pickConcerned({ concerns }: HistoryWanted): Pick {
  return (line) => {
    const { eventType } = line;
    if (ENDS.has(eventType)) return [line.event()];
    const isOfCall =
      eventType === "tool_call_intercepted" ||
      eventType === "consent_requested" ||
      (DECIDED.has(eventType) && (eventType !== "policy_evaluated" || line.decision() !== "ask"));
    if (!isOfCall) return NOTHING;
    const tool = line.tool();
    return tool === undefined || concerns(tool) ? [line.event()] : NOTHING;
  };
}
