/**
 * Words: what the page calls things. What an agent chose is escaped here.
 */
import { clip, escapeText, quoteText, showName } from "./escape.js";

/** @typedef {import("./types.js").ConsentRequest} ConsentRequest */
/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").RiskLevel} RiskLevel */
/** @typedef {import("./types.js").Json} Json */
/** @typedef {import("./types.js").Offer} Offer */
/** @typedef {import("./types.js").Step} Step */
/** @typedef {import("./types.js").SeenStatus} SeenStatus */

/** @type {readonly RiskLevel[]} */
const LEVELS = ["low", "medium", "high", "critical"];

/**
 * The risk as the question's text has it.
 *
 * @param {ConsentRequest} request
 */
export const levelOf = ({ policy }) => policy.required_level;

/**
 * What the kind of action is rated, where that is grave and more than the rule says.
 *
 * @param {ConsentRequest} request
 */
export function graverKind({ action, policy }) {
  const rank = LEVELS.indexOf(action.risk_level);
  return rank > 1 && rank > LEVELS.indexOf(policy.required_level) ? action.risk_level : undefined;
}

/**
 * Time left, short: `1:42`, `3 h 5 min`, `2 d 4 h`.
 *
 * @param {number} ms
 */
export function showLeft(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  if (hours >= 24) return `${Math.floor(hours / 24)} d ${hours % 24} h`;
  if (hours > 0) return `${hours} h ${minutes % 60} min`;
  return `${minutes}:${String(seconds % 60).padStart(2, "0")}`;
}

/**
 * A span in the largest unit that it is a whole number of, as the question's text has it.
 *
 * @param {number} ms
 */
export function showSpan(ms) {
  const seconds = Math.round(ms / 1000);
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

/**
 * A time of day, with the day where it is another one.
 *
 * @param {number} atMs
 * @param {number} nowMs
 */
export function showTime(atMs, nowMs) {
  const [at, now] = [new Date(atMs), new Date(nowMs)];
  const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return at.toDateString() === now.toDateString()
    ? time
    : `${at.toLocaleDateString([], { day: "numeric", month: "short" })}, ${time}`;
}

/** @type {(key: string, pattern: Json) => string} */
function showPattern(key, pattern) {
  const name = showName(key);
  if (typeof pattern === "number" || typeof pattern === "boolean") return `${name} is ${pattern}`;
  if (typeof pattern === "string")
    return `${name} ${/[*?]/.test(pattern) ? "is like" : "is"} ${quoteText(pattern)}`;
  const path =
    pattern !== null && typeof pattern === "object" && "path" in pattern ? pattern.path : undefined;
  return typeof path === "string" && Object.keys(pattern ?? {}).length === 1
    ? `${name} is a path like ${quoteText(path)}`
    : `${name} is like ${escapeText(JSON.stringify(pattern))}`;
}

/** @param {readonly string[]} [methods] */
function showMethods(methods = []) {
  if (methods.length === 0) return "no request";
  if (methods.includes("*")) return "every request, of any method, and every tunnel";
  if (methods.length === 1 && methods[0] === "CONNECT")
    return "every tunnel, whatever passes inside it,";
  return `every ${methods.map(showName).join(" and ")} request`;
}

/** @param {Offer["scope"]} scope */
function showScope(scope) {
  switch (scope.kind) {
    case "action":
      return "this exact call";
    case "shell":
      return "this exact command";
    case "arguments":
      return `every call of ${showName(scope.name)} on ${showName(scope.server)} where ${Object.entries(
        scope.args,
      )
        .map(([key, pattern]) => showPattern(key, pattern))
        .join(" and ")}`;
    case "tool":
      return `every call of ${showName(scope.name)} on ${showName(scope.server)}`;
    case "host":
      return `${showMethods(scope.methods)} to ${showName(scope.host)}${scope.twin === undefined ? "" : ` or ${showName(scope.twin)}`} port ${scope.port}`;
    default:
      return "something that this page does not know: read the text above";
  }
}

/**
 * What a yes may also cover, in the words of the question's text.
 *
 * @param {Offer} offer
 */
export const showOffer = ({ scope, ttl_ms: ttlMs, uses }) =>
  `${showScope(scope)}, for ${showSpan(ttlMs)}${uses === undefined ? "" : `, at most ${uses} times`}`;

/**
 * A step of the escalation.
 *
 * @param {Step} step
 */
export function showStep({ approvers = [], channel }) {
  const people =
    approvers.length === 0 ? [] : [`${approvers.map(showName).join(", ")} may answer too`];
  return [
    ...people,
    ...(channel === undefined ? [] : [`it is shown on ${showName(channel)} too`]),
  ].join(", and ");
}

/** @param {ConsentRequest["agent"]} agent */
export function showAgent({ id, name, parents = [] }) {
  const own = name === "" || name === id ? "" : ` (calls itself ${quoteText(name)})`;
  return `${showName(id)}${own}${parents.length === 0 ? "" : `, started by ${parents.map(showName).join(" < ")}`}`;
}

/**
 * The beginnings of the arguments, on one line for a list.
 *
 * @param {ConsentRequest} request
 */
export function previewOf({ action }) {
  const values = Object.values(action.parameters).map((value) =>
    typeof value === "string" ? value : JSON.stringify(value),
  );
  const beginnings = values
    .slice(0, 4)
    .map((value) => escapeText(clip(value, 120).replaceAll("\n", " ")));
  return clip(beginnings.join(" · "), 240);
}

/** @type {Readonly<Record<SeenStatus, string>>} */
const ENDS = {
  approved: "Approved",
  approved_with_modifications: "Approved with changes",
  denied: "Denied",
  expired: "Expired: denied, because no answer was kept in time",
  cancelled: "Withdrawn by the agent",
  failed: "Ended: denied",
  superseded: "Replaced by a new question",
  unknown: "Not known yet what became of it: its gate's log is being read",
};

/** @type {Readonly<Record<SeenStatus, string>>} */
const SHORT_ENDS = {
  approved: "Approved",
  approved_with_modifications: "Approved, changed",
  denied: "Denied",
  expired: "Expired",
  cancelled: "Withdrawn",
  failed: "Failed",
  superseded: "Replaced",
  unknown: "Not known yet",
};

/** @type {Readonly<Record<import("./types.js").RunOutcome["state"], string>>} */
const RUNS = {
  waiting: "The agent has not collected it yet.",
  started: "It is running.",
  ran: "It ran",
  failed: "It ran and failed",
  not_run: "It did not run",
  not_collected: "It did not run: nobody collected it in time",
  unknown: "It is not known whether it ran: check whether it happened",
};

/** What became of a yes. @param {import("./types.js").RunOutcome} run */
export function showRun({ state, error }) {
  const text = RUNS[state] ?? "";
  return state === "waiting" || state === "started"
    ? text
    : `${text}${error === undefined ? "" : ` (${escapeText(error)})`}.`;
}

/** @param {SeenStatus} status */
export const showEnd = (status) => ENDS[status] ?? "Ended";
/** @param {SeenStatus} status */
export const showShortEnd = (status) => SHORT_ENDS[status] ?? "Ended";

/** What the page says of what the inbox and the gate refuse; other codes speak for themselves. */
const REFUSALS = new Map([
  [
    "unreachable",
    "The inbox cannot be reached. It is not known yet whether this was taken: this page asks as soon as the inbox is back.",
  ],
  ["gate_lost", "Not sent: the connection to its gate is lost."],
  ["not_sent", "Not sent. The question is as it was."],
  ["question_ended", "Too late: this question is over. Nothing was done with your answer."],
  ["request_ended", "Too late: this question is over. Nothing was done with your answer."],
  [
    "passkey_missing",
    "A yes to this takes a passkey, and you have none here. Add one under Passkeys, then answer.",
  ],
  [
    "passkey_refused",
    "The passkey's signature does not hold, so the answer was not sent. The question is still open.",
  ],
  ["passkey_required", "This takes a passkey."],
  [
    "ticket_unknown",
    "That took too long, so the answer was not sent. The question is still open: try again.",
  ],
  ["signed_out", "You are signed out. Nothing was answered."],
  ["not_an_approver", "You may not answer this question."],
  ["already_answered", "Your yes is counted already."],
  ["approver_too_early", "It is not your turn yet: others may answer first."],
  [
    "evidence_invalid",
    "The gate does not accept this passkey's signature. The question is still open.",
  ],
  ["evidence_required", "The gate wants a passkey for this. The question is still open."],
  ["confirmation_required", "A yes to this takes the typed word."],
]);

/**
 * A refusal for a person.
 *
 * @param {string} code
 * @param {string} message
 */
export function showRefusal(code, message) {
  return REFUSALS.get(code) ?? `Not accepted: ${escapeText(message)}. The question is as it was.`;
}
