/**
 * OutcomeWatch: asks what became of questions until it is known, and tells it. It only reads.
 */
import type { Clock, ConsentOutcome } from "@acp/core";
import type { OpenQuestion, QuestionOutcome } from "./approver-client.js";

const LOOK_EVERY_MS = 500;
/** A yes is waited for as long as it may be collected. */
const FOLLOW_MS: number = 15 * 60_000;
/** Questions that are followed at once; the oldest is forgotten first. */
const FOLLOWED_MAX = 1_000;

/**
 * Reads what became of questions, e.g. from the gates' logs; questions that are not over are left
 * out.
 */
export type ReadOutcomes = (ids: readonly string[]) => Promise<readonly QuestionOutcome[]>;

/** Parts of {@link watchOutcomes}. */
export interface OutcomeWatchOptions {
  readonly read: ReadOutcomes | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly tell: (question: OpenQuestion, outcome: QuestionOutcome) => void;
}

/** Follows questions. */
export interface OutcomeWatch {
  follow(question: OpenQuestion): void;
  /** The gate itself says what became of a yes. */
  hear(id: string, outcome: ConsentOutcome): void;
  /** It is open again: what was asked before is settled by its next end. */
  forget(id: string): void;
}

const RUN_OF = {
  ran: "ran",
  failed: "failed",
  not_performed: "not_run",
  not_collected: "not_collected",
  unknown: "unknown",
} as const;

const isSettled = ({ run }: QuestionOutcome): boolean =>
  run === undefined || (run.state !== "waiting" && run.state !== "started");

/** Follows no question yet. */
export function watchOutcomes({ read, clock, signal, tell }: OutcomeWatchOptions): OutcomeWatch {
  const followed = new Map<string, { readonly question: OpenQuestion; readonly sinceMs: number }>();
  let looking = false;
  const look = async (readNow: ReadOutcomes): Promise<void> => {
    for (const [id, { sinceMs }] of followed)
      if (clock.now() - sinceMs > FOLLOW_MS) followed.delete(id);
    for (const outcome of await readNow([...followed.keys()])) {
      const question = followed.get(outcome.id)?.question;
      if (question === undefined || !isSettled(outcome)) continue;
      followed.delete(outcome.id);
      tell(question, outcome);
    }
  };
  const keepLooking = async (readNow: ReadOutcomes): Promise<void> => {
    if (looking) return;
    looking = true;
    try {
      while (followed.size > 0 && !signal.aborted) {
        await look(readNow);
        if (followed.size > 0) await clock.sleep(LOOK_EVERY_MS, { signal, background: true });
      }
    } finally {
      looking = false;
    }
  };
  return {
    follow(question) {
      if (signal.aborted) return;
      followed.set(question.request.id, { question, sinceMs: clock.now() });
      const [oldest] = followed.keys();
      if (followed.size > FOLLOWED_MAX && oldest !== undefined) followed.delete(oldest);
      // Without a log there is still what the gate says.
      if (read === undefined) return;
      // A log that cannot be read says nothing: it was told that it is not known.
      keepLooking(read).catch(() => undefined);
    },
    hear(id, { status, detail }) {
      const question = followed.get(id)?.question;
      followed.delete(id);
      const run = { state: RUN_OF[status], ...(detail === "" ? {} : { error: detail }) };
      if (question !== undefined) tell(question, { id, status: "approved", reason: "", run });
    },
    forget: (id) => void followed.delete(id),
  };
}
