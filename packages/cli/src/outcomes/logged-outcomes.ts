/**
 * LoggedOutcomes: follows the audit logs of a home and knows what they say became of each question
 * from its start on. Only reads.
 */
import { readNextSeq } from "@acp/audit";
import type { QuestionOutcome } from "@acp/channel-web";
import { asError } from "@acp/core";
import { listAuditFiles } from "../logs/log-files.js";
import { followLogs } from "../logs/follow-logs.js";
import { type OutcomeBook, createOutcomeBook } from "./outcome-book.js";

/** What the logs say. */
export interface LoggedOutcomes extends AsyncDisposable {
  /**
   * What became of these questions; those that no log ends are left out.
   *
   * @throws ConsentError `audit_failed` where a log cannot be read: then nobody knows.
   */
  find(ids: readonly string[]): Promise<readonly QuestionOutcome[]>;
}

/**
 * Events before a log's end that are read too: a gate writes an end before it tells it, so that a
 * question may stand open here whose end stands there. However long the log is, the start takes no
 * longer.
 */
const BACK = 2_000;

async function startsOf(paths: readonly string[]): Promise<ReadonlyMap<string, number>> {
  return new Map(
    await Promise.all(
      paths.map(async (path) => [path, Math.max(0, (await readNextSeq(path)) - BACK)] as const),
    ),
  );
}

/**
 * Follows the logs of a home: what they say from now on, and a little of before. Open it before you
 * learn which questions are open, so that it has the end of each of them.
 */
export async function followOutcomes(home: string): Promise<LoggedOutcomes> {
  const book = createOutcomeBook();
  const stop = new AbortController();
  let failure: Error | undefined;
  const fail = (error: unknown): void => {
    failure = asError(error);
  };
  const list = (): Promise<readonly string[]> => listAuditFiles(home);
  const fromSeqs = await list().then(startsOf).catch(fail);
  const onEvent: OutcomeBook["take"] = (event) => book.take(event);
  const following =
    fromSeqs === undefined
      ? undefined
      : followLogs({ list, fromSeqs, filter: {}, signal: stop.signal, onEvent }).catch(fail);
  return {
    async find(ids) {
      if (failure !== undefined) throw failure;
      return ids.flatMap((id) => book.find(id) ?? []);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await following;
    },
  };
}
