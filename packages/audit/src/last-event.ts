/**
 * Last event: when the last event of a log was, and which number comes after it, for who does not
 * write it. Reads only the end.
 */
import { readEndOf } from "./open-tail.js";

/**
 * Wall time of a log's last event, in milliseconds since 1970; `undefined` where it has none. Pass
 * it to a gate as `lastEventMs`: a wall clock that is behind it was set back.
 *
 * @throws ConsentError `audit_failed` where the log cannot be read, or its last line is not a valid
 *   event.
 */
export async function readLastEventMs(path: string): Promise<number | undefined> {
  return (await readEndOf(path))?.lastMs;
}

/**
 * Sequence number of the event that the log gets next; 0 where it has none. Following the log from
 * this number returns everything that is written from now on.
 *
 * @throws ConsentError `audit_failed` where the log cannot be read, or its last line is not a valid
 *   event.
 */
export async function readNextSeq(path: string): Promise<number> {
  const end = await readEndOf(path);
  return end?.head === undefined ? 0 : end.head.seq + 1;
}
