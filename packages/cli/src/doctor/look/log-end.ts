/** Log end: what the last line and the newest checkpoint say of a log, without its past. */
import { asError } from "@acp/core";
import { noteVerifier, openCheckpoint, readNextSeq } from "@acp/audit";
import type { AuditVerification, CheckpointClaims } from "@acp/audit";
import { open } from "node:fs/promises";

const NEWLINE = 0x0a;

/** Whether a log ends well, and not before its newest checkpoint. */
export async function quickVerification(
  path: string,
  claims: CheckpointClaims | undefined,
): Promise<AuditVerification> {
  let events: number;
  try {
    events = await readNextSeq(path);
  } catch (error) {
    const { message } = asError(error);
    return { ok: false, events: 0, firstBad: { line: 1, code: "not_json", message } };
  }
  if (await isTorn(path)) {
    const message = "its last line has no end";
    return { ok: false, events, firstBad: { line: events + 1, code: "torn_line", message } };
  }
  const promised = claims === undefined ? 0 : largestOf(claims);
  if (promised <= events) return { ok: true, events };
  const message = `a signed checkpoint promised ${promised} events; the last ${promised - events} are missing`;
  return { ok: false, events, firstBad: { line: events + 1, code: "end_missing", message } };
}

async function isTorn(path: string): Promise<boolean> {
  const handle = await open(path, "r").catch(() => undefined);
  if (handle === undefined) return false;
  try {
    const { size } = await handle.stat();
    if (size === 0) return false;
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer[0] !== NEWLINE;
  } finally {
    await handle.close();
  }
}

function largestOf({ notes, verifierKeys, origin }: CheckpointClaims): number {
  const verifiers = verifierKeys.map(noteVerifier);
  const sizes = notes.map((note) => {
    const opened = openCheckpoint(note, verifiers);
    return opened.ok && opened.checkpoint.origin === origin ? opened.checkpoint.size : 0;
  });
  return Math.max(0, ...sizes);
}
