/**
 * History: what ended here, newest first, beside what somebody else remembers of earlier. What the
 * gate's log says of a question takes the place of what this inbox saw of it: it has the gate's
 * proofs.
 */
import type { Settings } from "./options.js";
import type { HistoryEntry } from "./inbox-options.js";
import type { Entry, Questions } from "./questions.js";
import type { HistoryMessage } from "./wire.js";

/** Ends kept here. */
const ENDS_MAX = 500;
/** Characters of the questions kept here, together. */
const CHARS_MAX: number = 16 * 1024 * 1024;

/** What ended. */
export interface History {
  /** Rejects where the other memory does. */
  list(limit: number): Promise<readonly HistoryMessage[]>;
}

interface End {
  readonly entry: Entry;
  readonly status: HistoryEntry["status"];
  readonly atMs: number;
}

/** What was taken of an answer may come a moment after the end: it is read when somebody asks. */
function fromEnd({ entry, status, atMs }: End): HistoryEntry {
  return {
    request: entry.wire,
    status,
    atMs,
    approvers: [...entry.taken.keys()],
    responses: [...entry.taken.values()],
  };
}

const encode = ({
  request,
  status,
  atMs,
  approvers,
  responses,
  run,
}: HistoryEntry): HistoryMessage => ({
  request,
  status,
  at: atMs,
  approvers,
  responses,
  ...(run === undefined ? {} : { run: { ...run } }),
});

/** Remembers the ends of questions from now on. */
export function createHistory(
  questions: Questions,
  { history }: Pick<Settings, "history">,
): History {
  const ends: End[] = [];
  let chars = 0;
  const sizeOf = ({ entry }: End): number => entry.question.request.text.length;
  questions.subscribe((change) => {
    if (change.type !== "ended") return;
    const { entry, ending, atMs } = change;
    const end: End = { entry, status: ending.status, atMs };
    ends.unshift(end);
    chars += sizeOf(end);
    while (ends.length > ENDS_MAX || (chars > CHARS_MAX && ends.length > 1)) {
      const oldest = ends.pop();
      if (oldest !== undefined) chars -= sizeOf(oldest);
    }
  });
  return {
    async list(limit) {
      const told = await history(limit);
      const known = new Set(told.map(({ request }) => request["id"]));
      const own = ends.map(fromEnd).filter(({ request }) => !known.has(request["id"]));
      return [...own, ...told]
        .toSorted((one, other) => other.atMs - one.atMs)
        .slice(0, limit)
        .map(encode);
    },
  };
}
