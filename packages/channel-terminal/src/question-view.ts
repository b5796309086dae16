/**
 * QuestionView: how a question, its details and its end look. The call itself is core's text, shown
 * as it is.
 */
import {
  type ConsentRequest,
  type Ending,
  type RiskLevel,
  encodeRequest,
  escapeText,
} from "@acp/core";
import type { OpenQuestion, QuestionOutcome } from "./approver-client.js";
import type { Ink, Screen } from "@acp/host";

/**
 * Rows of a call shown at once; of a longer one the beginning and the end are shown, and it cannot
 * be approved before all of it was.
 */
const ROWS_MAX = 200;
const ROWS_AT_END = 60;

const RISK_INKS: Readonly<Record<RiskLevel, Ink>> = {
  low: "green",
  medium: "yellow",
  high: "red",
  critical: "red",
};

/** What the person is told the keys do. */
export const HELP: readonly string[] = [
  "a, approve          approve exactly this call; at level critical, type the whole word",
  "a NAME              approve, and accept the offer of that name",
  "d, deny [REASON]    deny; the agent sees the reason",
  "e, edit             change the arguments, see the difference, then confirm",
  "v, details          everything about the question, as JSON",
  "n, next             leave it open and look at the next one",
  "An empty line, an unknown word, the end of the input and silence never approve anything.",
];

/** Time left as `1:05`, or `1:00:05`. */
export function showTimeLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const two = (value: number): string => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours === 0
    ? `${minutes}:${two(seconds % 60)}`
    : `${hours}:${two(minutes)}:${two(seconds % 60)}`;
}

/**
 * The lines of the text, its own rows joined again: the screen wraps them at its width
 * (spec/question-text.md §3).
 */
const linesOf = ({ text }: ConsentRequest): readonly string[] =>
  text.replaceAll("\n↪ ", "").split("\n");

/** Shows a question; returns whether the whole call is on the screen. */
export function showQuestion(screen: Screen, { request, redelivery }: OpenQuestion): boolean {
  const level = request.policy.requiredLevel;
  screen.say("");
  screen.say(
    `── ${level.toUpperCase()} ── an agent asks for consent${redelivery ? ", again after a restart" : ""} ──`,
    RISK_INKS[level],
  );
  const lines = linesOf(request);
  const rows = screen.rows(lines);
  if (rows.length <= ROWS_MAX) {
    screen.quote(lines);
    return true;
  }
  const hidden = rows.slice(ROWS_MAX - ROWS_AT_END, -ROWS_AT_END);
  screen.write(rows.slice(0, ROWS_MAX - ROWS_AT_END));
  screen.say(
    `── ${hidden.length} rows (${Buffer.byteLength(hidden.join(""))} bytes) are not shown here: v shows everything ──`,
    "yellow",
  );
  screen.write(rows.slice(-ROWS_AT_END));
  return false;
}

/** Shows the whole call and the question as JSON. */
export function showDetails(screen: Screen, { request }: OpenQuestion): void {
  const { text: _shown, ...rest } = encodeRequest(request);
  screen.say("── the call ──", "bold");
  screen.quote(linesOf(request));
  screen.say("── the question as JSON ──", "bold");
  screen.quote([JSON.stringify(rest, undefined, 2)]);
}

const ENDINGS: Readonly<Record<Ending["status"], string>> = {
  approved: "answered elsewhere: approved",
  approved_with_modifications: "answered elsewhere: approved with changed arguments",
  denied: "answered elsewhere: denied",
  expired: "expired: nobody answered in time, the call was denied",
  cancelled: "withdrawn, the call was not made",
  failed: "failed, the call was denied",
  superseded: "replaced by a new question",
};

/** One line about a question whose gate cannot be reached any more. */
export const describeLoss = ({ request }: OpenQuestion): string =>
  `${escapeText(request.action.description)}: the connection to its gate is lost, and its outcome is unknown here`;

/** One line about a question that ended without this person. */
export function describeEnding({ request }: OpenQuestion, { status, reason }: Ending): string {
  const why = status === "cancelled" || status === "failed" ? ` (${escapeText(reason)})` : "";
  return `${escapeText(request.action.description)}: ${ENDINGS[status]}${why}`;
}

const RUNS: Readonly<Record<NonNullable<QuestionOutcome["run"]>["state"], string>> = {
  waiting: "the agent has not collected the approval yet",
  started: "running",
  ran: "it ran",
  failed: "it ran and failed",
  not_run: "it was not run",
  not_collected: "it did not run: the agent did not collect the approval in time",
  unknown: "it is unknown whether it ran: check whether it happened",
};

/** One line about what a gate's log says became of a question. */
export function describeOutcome(
  { request }: OpenQuestion,
  { status, run }: QuestionOutcome,
): string {
  const error = run?.error === undefined ? "" : ` (${escapeText(run.error)})`;
  const what = run === undefined ? "" : `; ${RUNS[run.state]}${error}`;
  return `${escapeText(request.action.description)}: ${status.replaceAll("_", " ")}${what}`;
}
