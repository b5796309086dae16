/**
 * Log room: what all clients of a resident together may write into the log beyond what each of them
 * may write anyway. It is a part of what the disk and the home's limits can spare, so that no client
 * fills the disk or pushes the others' history out of the log, and a busy one works at full speed
 * where there is plenty. Rules: spec/resident.md §6.
 */
import { statfsSync } from "node:fs";

/** Of what can be spared, so much: one part in this many. */
const PARTS = 16;
/** Retention runs once an hour: by then all of it is given back. */
const BACK_MS = 3_600_000;
/** The disk is asked at most this often. */
const LOOK_EVERY_MS = 1_000;

/** The room of one resident. */
export interface LogRoom {
  /** Whether there is any left. */
  hasSome(): boolean;
  /** Takes so many bytes; more than there are leaves it empty for longer. */
  take(bytes: number): void;
  /** All logs of the home together may have so many bytes. */
  keep(bytesMax: number | undefined): void;
}

/**
 * All of it is there.
 *
 * @param spare - Bytes free on the disk of the logs; 0 where that is not known.
 * @param nowMs - Milliseconds of a clock that only runs forward.
 */
export function createLogRoom(spare: () => number, nowMs: () => number): LogRoom {
  let keptMax = Infinity;
  let used = 0;
  let atMs = nowMs();
  let room = 0;
  let lookedAtMs: number | undefined;
  const flow = (): void => {
    const now = nowMs();
    if (lookedAtMs === undefined || now - lookedAtMs >= LOOK_EVERY_MS) {
      lookedAtMs = now;
      room = roomOf(Math.min(spare(), keptMax));
    }
    used = Math.max(0, used - ((now - atMs) / BACK_MS) * room);
    atMs = now;
  };
  return {
    hasSome() {
      flow();
      return used < room;
    },
    take(bytes) {
      flow();
      used += bytes;
    },
    keep(bytesMax) {
      if (bytesMax !== undefined) keptMax = Math.min(keptMax, bytesMax);
    },
  };
}

/** What is no number of bytes spares nothing. */
const roomOf = (spare: number): number => (spare > 0 && spare < Infinity ? spare / PARTS : 0);

/** Bytes that this user may still write on the disk of a directory; 0 where nobody says. */
export function freeBytes(directory: string): number {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
