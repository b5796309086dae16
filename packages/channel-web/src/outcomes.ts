/**
 * Outcomes: what became of questions whose gate was lost, and of every yes, as the gates' logs have
 * it. It only reads; nothing here ends a question at its gate. Format: spec/web-inbox.md §4.
 */
import { type ConsentOutcome, readFields } from "@acp/core";
import type { Settings } from "./options.js";
import type { QuestionOutcome, RunOutcome } from "./question-source.js";
import type { Entry, Questions } from "./questions.js";
import { oneLine, refuse, reply } from "./reply.js";
import type { InboxParts, Outcomes, Route, SessionCall } from "./routes.js";
import type { OutcomeMessage } from "./wire.js";

/** How often the log is asked about what is not settled. */
const LOOK_EVERY_MS = 500;
/** How long a yes is followed: somebody may come for it as long as it holds. */
const FOLLOW_MS: number = 15 * 60_000;
/** Questions looked up at once. */
const IDS_MAX = 500;
/** Outcomes kept, of the newest questions. */
const KEPT_MAX = 10_000;

/** A yes is not followed any more once it is here. */
const isSettled = ({ state }: RunOutcome): boolean => state !== "waiting" && state !== "started";

const RUN_OF: Readonly<Record<ConsentOutcome["status"], RunOutcome["state"]>> = {
  ran: "ran",
  failed: "failed",
  not_performed: "not_run",
  not_collected: "not_collected",
  unknown: "unknown",
};

/** What a gate says became of a yes. */
export const runOf = ({ status, detail }: ConsentOutcome): RunOutcome => ({
  state: RUN_OF[status],
  ...(detail === "" ? {} : { error: detail }),
});

interface Followed {
  readonly entry: Entry;
  readonly sinceMs: number;
  state: RunOutcome["state"] | undefined;
}

interface Kept {
  readonly questions: Questions;
  readonly settings: Settings;
  /** Every yes that is not settled. */
  readonly followed: Map<string, Followed>;
  readonly known: Map<string, QuestionOutcome>;
}

function keep({ known }: Kept, outcome: QuestionOutcome): void {
  known.delete(outcome.id);
  known.set(outcome.id, outcome);
  const [oldest] = known.keys();
  if (known.size > KEPT_MAX && oldest !== undefined) known.delete(oldest);
}

function takeRun(kept: Kept, outcome: QuestionOutcome): void {
  const followed = kept.followed.get(outcome.id);
  const { run } = outcome;
  if (followed === undefined || run === undefined) return;
  if (followed.state === run.state) return;
  followed.state = run.state;
  keep(kept, outcome);
  kept.questions.tellRun(followed.entry, run);
}

/** One look at the logs; whether something is left to look at. */
async function lookOnce(kept: Kept): Promise<boolean> {
  const { questions, settings, followed } = kept;
  if (settings.outcomes === undefined) return false;
  const nowMs = settings.clock.now();
  for (const [id, { sinceMs }] of followed) if (nowMs - sinceMs > FOLLOW_MS) followed.delete(id);
  const lost = new Map(questions.lost().map((entry) => [entry.question.request.id, entry]));
  const ids = [...new Set([...lost.keys(), ...followed.keys()])];
  for (let at = 0; at < ids.length; at += IDS_MAX) {
    for (const outcome of await settings.outcomes(ids.slice(at, at + IDS_MAX))) {
      const entry = lost.get(outcome.id);
      // It may have opened again, or ended, while the log was read.
      if (entry !== undefined)
        questions.end(entry, { status: outcome.status, reason: outcome.reason }, outcome.atMs);
      takeRun(kept, outcome);
    }
  }
  return questions.lost().length + followed.size > 0;
}

/** What the gate said itself may be ahead of its log. */
function newer(
  logged: QuestionOutcome | undefined,
  heard: QuestionOutcome | undefined,
): QuestionOutcome | undefined {
  if (logged === undefined || heard?.run === undefined || !isSettled(heard.run))
    return logged ?? heard;
  return logged.run === undefined || isSettled(logged.run) ? logged : { ...logged, run: heard.run };
}

async function find(
  { settings, known }: Kept,
  ids: readonly string[],
): Promise<ReadonlyMap<string, QuestionOutcome>> {
  const logged = new Map(
    ((await settings.outcomes?.(ids)) ?? []).map((outcome) => [outcome.id, outcome]),
  );
  return new Map(
    ids.flatMap((id) => {
      const outcome = newer(logged.get(id), known.get(id));
      return outcome === undefined ? [] : [[id, outcome] as const];
    }),
  );
}

/** Follows the outcomes of an inbox's questions, as long as one is not settled. */
export function createOutcomes(questions: Questions, settings: Settings): Outcomes {
  const kept: Kept = { questions, settings, followed: new Map(), known: new Map() };
  const stop = new AbortController();
  let looking = false;
  let isFailing = false;
  const look = async (): Promise<boolean> => {
    try {
      const isMore = await lookOnce(kept);
      isFailing = false;
      return isMore;
    } catch (error) {
      if (!isFailing)
        settings.warn(
          `Cannot read the outcomes of questions: ${error instanceof Error ? error.message : "it failed"}`,
        );
      isFailing = true;
      return true;
    }
  };
  const keepLooking = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    try {
      while (!stop.signal.aborted && (await look()))
        await settings.clock.sleep(LOOK_EVERY_MS, { signal: stop.signal, background: true });
    } finally {
      looking = false;
    }
  };
  questions.subscribe((change) => {
    if (change.type === "run") {
      const { id } = change.entry.question.request;
      const known = kept.known.get(id);
      if (known !== undefined) keep(kept, { ...known, run: change.run });
      if (isSettled(change.run)) kept.followed.delete(id);
      return;
    }
    if (change.type === "ended") {
      const { entry, ending, atMs } = change;
      const { id } = entry.question.request;
      keep(kept, { id, status: ending.status, reason: ending.reason, atMs });
      if (ending.status.startsWith("approved"))
        kept.followed.set(id, { entry, sinceMs: settings.clock.now(), state: undefined });
      else return;
    } else if (change.type !== "lost") return;
    keepLooking().catch(() => undefined);
  });
  return {
    look: async () => void (await look()),
    find: (ids) => find(kept, ids),
    clear() {
      stop.abort();
      kept.followed.clear();
      kept.known.clear();
    },
  };
}

function encode(id: string, outcome: QuestionOutcome | undefined, isOpen: boolean): OutcomeMessage {
  if (isOpen) return { id, status: "open" };
  if (outcome === undefined) return { id, status: "unknown" };
  const { status, reason, atMs, run } = outcome;
  return {
    id,
    status,
    reason: oneLine(reason),
    at: atMs,
    ...(run === undefined ? {} : { run: { ...run } }),
  };
}

async function tell(
  { outcomes, questions, settings }: InboxParts,
  { body }: SessionCall,
): Promise<Response> {
  const fields = readFields(body, "body");
  const ids = fields.texts("ids");
  fields.done();
  if (ids.length > IDS_MAX)
    return refuse("body_invalid", { message: `"ids" has more than ${IDS_MAX}` });
  const isOpen = (id: string): boolean => typeof questions.find(id) === "object";
  try {
    const known = await outcomes.find(ids);
    return reply(200, { outcomes: ids.map((id) => encode(id, known.get(id), isOpen(id))) });
  } catch (error) {
    settings.warn(
      `Cannot read the outcomes of questions: ${error instanceof Error ? error.message : "it failed"}`,
    );
    return refuse("history_unavailable");
  }
}

/** The route of asking what became of questions. */
export const OUTCOME_ROUTES: readonly Route[] = [
  { method: "POST", path: "/api/outcomes", access: "session", handle: tell },
];
