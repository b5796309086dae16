/**
 * Lock: one writer for a log, for as long as its process lives. Sockets beside the log say who that
 * is (`@acp/host`, `trySocketLock()`).
 */
import { basename, dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { trySocketLock } from "@acp/host";
import { busyError, cannot, causeText } from "./errors.js";

/** A held lock. */
export interface WriterLock {
  release(): Promise<void>;
}

/**
 * Two that start at the same moment see each other and both step back; each looks again after a
 * while of its own, longer every time.
 */
const ATTEMPTS = 12;
const FIRST_WAIT_MS_MAX = 5;
const WAIT_MS_MAX = 250;

/**
 * Makes this process the log's writer.
 *
 * @throws ConsentError `audit_busy`, naming the owner's process id, where another one is;
 *   `audit_failed` where there can be no lock.
 */
export async function lockWriter(path: string): Promise<WriterLock> {
  const place = { directory: dirname(path), prefix: `${basename(path)}.lock.` };
  for (let attempt = 1; ; attempt++) {
    const lock = await trySocketLock(place).catch((error: unknown) => {
      throw cannot("lock", path)(causeText(error), error);
    });
    if (lock.isHeld) return lock;
    if (lock.isHolder || attempt >= ATTEMPTS) throw busyError(path, lock.pid ?? "unknown");
    await wait(Math.random() * Math.min(WAIT_MS_MAX, FIRST_WAIT_MS_MAX * 2 ** attempt));
  }
}
