/**
 * Policy notes: which policy texts a log says were in force, by their hash. The log of a gate names
 * each text when it comes into force, and again before the file that named it is removed. Pure.
 */
import type { AuditEvent } from "@acp/audit";

/** A note of a policy that came into force. */
export interface PolicyNote {
  readonly seq: number;
  /** When it came into force. */
  readonly sinceMs: number;
  /** Noted again, because the first note was about to be removed. */
  readonly isAgain: boolean;
  /** `sha256:<hex>` of the text. */
  readonly policy: string;
  /** The policy's file. */
  readonly file: string;
}

/** What a notice says of a policy; `undefined` where it says nothing. */
export function readPolicyNote({
  eventType,
  seq,
  atMs,
  metadata,
}: AuditEvent): PolicyNote | undefined {
  const { policy, file, in_force_ms: sinceMs } = metadata;
  if (eventType !== "gate_notice" || typeof policy !== "string" || typeof file !== "string")
    return undefined;
  const isAgain = typeof sinceMs === "number";
  return { seq, sinceMs: isAgain ? sinceMs : atMs, isAgain, policy, file };
}

/** Follows the notices of one log, in their order. */
export interface PolicyNotes {
  add(event: AuditEvent): void;
  /** The policies in force: one for each file that the process which writes the log uses. */
  current(): readonly PolicyNote[];
}

/** Follows a log's notices. */
export function trackPolicyNotes(): PolicyNotes {
  const byFile = new Map<string, PolicyNote>();
  let lastMonoMs = 0;
  return {
    add(event) {
      // The monotonic time begins anew with each process, which may use other files.
      const { monoMs = lastMonoMs } = event;
      if (monoMs < lastMonoMs) byFile.clear();
      lastMonoMs = monoMs;
      const note = readPolicyNote(event);
      if (note === undefined) return;
      // What is noted again is older than what came into force meanwhile.
      if (note.isAgain && (byFile.get(note.file)?.sinceMs ?? 0) > note.sinceMs) return;
      byFile.set(note.file, note);
    },
    current: () => [...byFile.values()],
  };
}
