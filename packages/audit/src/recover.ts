/** Recover: reads what a log left open, over all its files. */
import { isWorkEvent, type OpenWork, trackOpenWork } from "./open-work.js";
import { readRecords } from "./read.js";

/**
 * The questions and calls of a log that have no end in it.
 *
 * @throws ConsentError `audit_failed` at a line that is no event.
 */
export async function findOpenWork(path: string, signal?: AbortSignal): Promise<OpenWork> {
  const work = trackOpenWork();
  for await (const { event } of readRecords(path, { ...(signal === undefined ? {} : { signal }), mayMatter })) work.add(event);
  return work;
}

const EVENT_TYPE = /,"event_type":"([a-z_]+)"/;

/** Whether the line is worth reading; a text cannot hold an unescaped quote, so the first match is the field. */
function mayMatter(line: string): boolean {
  const eventType = EVENT_TYPE.exec(line)?.[1];
  return eventType === undefined || isWorkEvent(eventType);
}
