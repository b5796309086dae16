/**
 * In work: the requests of a client that were sent and have no answer, and what becomes of them when
 * their resident is lost. A tool call is numbered, kept, and may be sent once more where the log does
 * not show it as forwarded; of everything else nobody knows what came of it. Imports nothing.
 */
import type { Id, Problem } from "./messages.js";

/** A tool call that was sent. */
export interface SentCall {
  readonly id: Id;
  /** Its number among this client's calls: the same each time that it is sent. */
  readonly n: number;
  readonly bytes: Buffer;
  /** When it was sent first. */
  readonly atMs: number;
  /** How many residents crashed while it was in work. */
  readonly crashes: number;
}

/** A line that is about to be sent. */
export interface Line {
  readonly bytes: Buffer;
  readonly requests: readonly Id[];
  readonly isCall: boolean;
  /** Present where it was sent before. */
  readonly sent?: SentCall;
}

/** How a lost request is answered. */
export type Answer = (id: Id, problem: Problem) => void;

/** How a session ended. */
export interface LostSession {
  /** Whether its resident crashed, rather than gave way. */
  readonly isCrash: boolean;
  readonly answer: Answer;
  /** Whether it goes on without being sent once more. */
  isKept(id: Id): boolean;
}

/** The requests in work. */
export interface InWork {
  /** From now on the line's requests are in work. Gives the number of a call. */
  begin(line: Line): number | undefined;
  /** It is answered. */
  settle(id: Id): void;
  /** The session is over. Answers what cannot be sent once more, and keeps the rest. */
  lose(end: LostSession): void;
  /** Calls of lost sessions, in their order, of which nobody knows yet how far they came. */
  lost(): readonly SentCall[];
  /** Takes a call back that was to be sent once more, and was not. */
  takeBack(sent: SentCall): void;
  /** Those that may be sent once more; the others are answered. */
  resolve(again: ReadonlySet<number>, answer: Answer): readonly SentCall[];
}

/** Bytes of calls that are kept. */
const KEPT_BYTES_MAX: number = 64 * 1024 * 1024;
/** Calls that are asked about; a client has fewer under way. */
const LOST_MAX = 8_192;

const UNKNOWN = "whether it was done is unknown. Check before you ask for it again";
const LOST: Problem = {
  code: "outcome_unknown",
  message: `The resident gate ended before this was answered: ${UNKNOWN}`,
  isRetryable: false,
};
const TWICE: Problem = {
  code: "outcome_unknown",
  message: `The resident gate ended twice before this was answered: ${UNKNOWN}`,
  isRetryable: false,
};
/** What was in work at so many crashes may be what they came of. */
const CRASHES_MAX = 1;

/** Nothing was sent yet. */
export function createInWork(nowMs: () => number): InWork {
  /** Undefined for one that is not sent once more. */
  const requests = new Map<Id, SentCall | undefined>();
  let keptBytes = 0;
  let calls = 0;
  let lost: SentCall[] = [];
  const settle = (id: Id): void => {
    keptBytes -= requests.get(id)?.bytes.length ?? 0;
    requests.delete(id);
  };
  return {
    begin({ bytes, requests: ids, isCall, sent }) {
      const n = isCall ? (sent?.n ?? ++calls) : undefined;
      for (const id of ids) {
        settle(id);
        const isKept = n !== undefined && keptBytes + bytes.length <= KEPT_BYTES_MAX;
        const call = isKept ? (sent ?? { id, n, bytes, atMs: nowMs(), crashes: 0 }) : undefined;
        if (call !== undefined) keptBytes += bytes.length;
        requests.set(id, call);
      }
      return n;
    },
    settle,
    lose({ isCrash, answer, isKept }) {
      for (const [id, call] of requests) {
        if (isKept(id)) continue;
        const crashes = (call?.crashes ?? 0) + (isCrash ? 1 : 0);
        if (call === undefined || lost.length >= LOST_MAX) answer(id, LOST);
        else if (crashes > CRASHES_MAX) answer(id, TWICE);
        else lost.push({ ...call, crashes });
      }
      requests.clear();
      keptBytes = 0;
    },
    lost: () => lost.sort((one, other) => one.n - other.n),
    takeBack: (sent) => void lost.push(sent),
    resolve(again, answer) {
      const known = lost;
      lost = [];
      for (const { id, n } of known) if (!again.has(n)) answer(id, LOST);
      return known.filter(({ n }) => again.has(n));
    },
  };
}
