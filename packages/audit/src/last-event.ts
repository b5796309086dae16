/**
 * Last event: when the last event of a log was, and which number comes after it, for who does not
 * write it. Reads only the end.
 */
import { readEndOf } from "./open-tail.js";

/**
 * Wall time of a log's last event, in milliseconds since 1970; `undefined` where it has none. A
 * wall clock that is behind it was set back, and then a gate believes no consent that was kept
 * before the machine started anew (`lastEventMs` of its options).
 *
 * @throws ConsentError `audit_failed` where the log cannot be read, or its last line is no good
 *   event.
 */
export async function readLastEventMs(path: string): Promise<number | undefined> {
  return (await readEndOf(path))?.lastMs;
}

/**
 * Number of the event that the log gets next; 0 where it has none. Who follows the log from it gets
 * all that is written from now on.
 *
 * @throws ConsentError `audit_failed` where the log cannot be read, or its last line is no good
 *   event.
 */
export async function readNextSeq(path: string): Promise<number> {
  const end = await readEndOf(path);
  return end?.head === undefined ? 0 : end.head.seq + 1;
}
