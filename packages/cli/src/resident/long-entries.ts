/**
 * Long entries of the log, such as a call's with a megabyte of arguments: to make a line of one, and
 * what its call does once it is written, take milliseconds each. They come one after another, each
 * step in a turn of the event loop of its own.
 */
import type { AuditEventInput, AuditReceipt, AuditSink } from "@acp/core";
import { jsonBytes } from "./json-bytes.js";
import { createTurns } from "./turns.js";

/** An entry that has more is long. */
export const LONG_BYTES: number = 64 * 1024;

/** What else a line has, with texts of a usual length. */
const LINE_BYTES = 640;

/** Bytes of an entry of the log, nearly as they stand in it. */
export const entryBytes = (events: readonly AuditEventInput[]): number =>
  events.reduce((sum, { metadata }) => sum + LINE_BYTES + jsonBytes(metadata), 0);

/** Writes a long entry. */
export type LongAppend = (
  sink: AuditSink,
  events: readonly AuditEventInput[],
) => Promise<AuditReceipt>;

/** Of one process. */
export function createLongAppend(): LongAppend {
  const turns = createTurns(1);
  async function inTurn<T>(work: () => T): Promise<T> {
    const turn = turns.of();
    await turn.take();
    await new Promise((resolve) => setImmediate(resolve));
    try {
      return work();
    } finally {
      turn.give();
    }
  }
  return async (sink, events) => {
    // What a sink takes is made a line of before it returns.
    const written = await inTurn(() => ({ receipt: sink.append(events) }));
    try {
      return await written.receipt;
    } finally {
      await inTurn(() => undefined);
    }
  };
}
