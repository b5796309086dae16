/** Text: an explanation as a person reads it, in local time. */
import { canonicalJson, escapeText } from "@acp/core";
import { showDuration } from "../duration.js";
import type { Printer, Tone } from "../printer.js";
import type {
  Answer,
  AskedQuestion,
  DecidingRule,
  Explanation,
  ProofStatus,
  Run,
  Standing,
} from "./explanation.js";
import { showLocal, zoneName } from "./zone.js";

type Tones = Pick<Printer, "tone">;

const LABEL_WIDTH = 11;
const INDENT: string = " ".repeat(LABEL_WIDTH + 2);
/** Of longer arguments the rest is left to --json. */
const ARGUMENTS_CHARS_MAX = 2_000;

const STANDINGS: Readonly<Record<Standing, readonly [Tone, string]>> = {
  allowed: ["green", "allowed"],
  denied: ["red", "denied"],
  open: ["yellow", "not decided yet"],
  replaced: ["yellow", "replaced by an edited question"],
  unknown: ["yellow", "unknown"],
};

/** The lines of an explanation. */
export function explanationLines(explanation: Explanation, print: Tones): readonly string[] {
  const { id, atMs, agent, parents, rule, question, earlier, run, proof, notices } = explanation;
  const started = parents.length === 0 ? "" : `, started by ${parents.map(escapeText).join(", ")}`;
  return [
    `${standingOf(explanation, print)}: ${whatOf(explanation)}`,
    line("when", `${showLocal(atMs)} (${zoneName()})`),
    line("agent", `${escapeText(agent)}${started}`),
    ...argumentLines(explanation),
    ...verdictLines(explanation),
    ...ruleLines(rule),
    ...(question === undefined ? [] : questionLines(question)),
    ...(earlier === undefined ? [] : [line("earlier", earlierText(earlier))]),
    line("outcome", runText(run)),
    ...proofLines(proof, id),
    ...notices.map(({ atMs: saidMs, text }) =>
      line("meanwhile", `${clockOf(saidMs)} ${escapeText(text)}`),
    ),
    line("log", `${explanation.log}, ${eventNumbers(explanation.events)}; ID ${escapeText(id)}`),
  ];
}

/** One line of a list of decisions. */
export function decisionLine(explanation: Explanation, print: Tones): string {
  const { id, atMs, agent, verdict } = explanation;
  const code = verdict.code === undefined ? "" : ` [${escapeText(verdict.code)}]`;
  const words = [
    print.tone("dim", showLocal(atMs)),
    `${standingOf(explanation, print)}${code}`,
    whatOf(explanation),
    escapeText(agent),
    print.tone("dim", escapeText(id)),
  ];
  return words.join("  ");
}

function standingOf({ verdict: { standing } }: Explanation, print: Tones): string {
  const [tone, text] = STANDINGS[standing];
  return print.tone(tone, text);
}

function whatOf({ action: { kind, server, tool } }: Explanation): string {
  const place = server === undefined ? "" : ` on ${escapeText(server)}`;
  return `${kind === undefined ? "" : `${escapeText(kind)} `}${escapeText(tool)}${place}`;
}

const line = (label: string, text: string): string => `  ${label.padEnd(LABEL_WIDTH)}${text}`;

/** The time alone: the date stands at the top. */
const clockOf = (ms: number): string => showLocal(ms).slice(11, 19);

function argumentLines({ action }: Explanation): readonly string[] {
  const { parameters, approvedParameters } = action;
  return [
    ...(parameters === undefined ? [] : [line("arguments", jsonText(parameters))]),
    ...(approvedParameters === undefined ? [] : [line("changed to", jsonText(approvedParameters))]),
  ];
}

function jsonText(value: Parameters<typeof canonicalJson>[0]): string {
  const text = escapeText(canonicalJson(value));
  const more = text.length - ARGUMENTS_CHARS_MAX;
  return more > 0
    ? `${text.slice(0, ARGUMENTS_CHARS_MAX)}… (${more} more characters; --json shows all)`
    : text;
}

function verdictLines({ verdict, rule }: Explanation): readonly string[] {
  const { code, meaning, reason, remedy, standing } = verdict;
  const named = code === undefined ? "" : ` [${escapeText(code)}]`;
  const said = meaning ?? (code === undefined ? undefined : "This version does not know the code.");
  // What the rule says stands beside the rule.
  const isOwn = reason !== undefined && reason !== rule.reason;
  return [
    ...(said === undefined ? [] : [line("verdict", `${said}${named}`)]),
    ...(isOwn ? [line("reason", escapeText(reason))] : []),
    ...(standing === "denied" && remedy !== undefined ? [line("remedy", remedy)] : []),
  ];
}

function ruleLines(rule: DecidingRule): readonly string[] {
  const { id, name, effect, layer, reason, texts, missing } = rule;
  if (id === "") return [];
  const title = name === undefined ? "" : ` "${escapeText(name)}"`;
  const isOwn = layer !== "" && layer !== "rules" && layer !== "default" && layer !== "policy";
  const words = [effect, ...(isOwn ? [`layer ${layer}`] : [])].filter((word) => word !== "");
  const said = words.length === 0 ? "" : ` (${words.map(escapeText).join(", ")})`;
  const why = reason === "" ? "" : `: ${escapeText(reason)}`;
  return [
    line("rule", `${escapeText(id)}${title}${said}${why}`),
    ...texts.flatMap(({ file, line: at, text }) => [
      `${INDENT}as it was in force, ${escapeText(file)}:${at}`,
      ...text.split("\n").map((each) => `${INDENT}  ${escapeText(each)}`),
    ]),
    ...(texts.length === 0 && missing !== undefined
      ? [`${INDENT}its text at that moment is not known: ${escapeText(missing)}`]
      : []),
  ];
}

function questionLines(question: AskedQuestion): readonly string[] {
  const { needed, shown, notShown, escalations, answers, refused, replaces, successor } = question;
  const people = needed === 1 ? "" : `; ${needed} people had to approve`;
  const by =
    shown.length === 0 ? "shown on no channel" : `shown on ${shown.map(escapeText).join(", ")}`;
  const steps = escalations === 0 ? "" : `; escalated ${escalations} times`;
  return [
    line("question", `${escapeText(question.id)}, ${by}${people}${steps}`),
    ...notShown.map((text) => `${INDENT}not shown on ${escapeText(text)}`),
    ...(replaces === undefined ? [] : [`${INDENT}it replaced ${escapeText(replaces)}`]),
    ...(successor === undefined
      ? []
      : [`${INDENT}${escapeText(successor)} replaced it: acp why ${escapeText(successor)}`]),
    ...answers.map((answer) => line("answer", answerText(answer))),
    ...refused.map(({ atMs, code, channel }) =>
      line(
        "refused",
        `an answer${channel === undefined ? "" : ` on ${escapeText(channel)}`} at ${clockOf(atMs)} did not count [${escapeText(code)}]`,
      ),
    ),
    ...(answers.length === 0 && question.end !== undefined
      ? [line("answer", noAnswer(question))]
      : []),
  ];
}

function answerText({ approver, channel, decision, atMs, tookMs }: Answer): string {
  const on = channel === undefined ? "" : ` on ${escapeText(channel)}`;
  const after = tookMs === undefined ? "" : `, ${took(tookMs)} after the question`;
  return `${decision} by ${escapeText(approver)}${on} at ${clockOf(atMs)}${after}`;
}

const took = (ms: number): string => (ms < 1_000 ? "less than a second" : showDuration(ms));

function noAnswer({ askedMs, endedMs, end }: AskedQuestion): string {
  const after =
    endedMs === undefined || endedMs < askedMs ? "" : ` after ${took(endedMs - askedMs)}`;
  return `nobody answered; the question ended as ${escapeText(end ?? "")}${after}`;
}

function earlierText({
  kind,
  question,
  grant,
  approvers,
}: NonNullable<Explanation["earlier"]>): string {
  const who = approvers.length === 0 ? "" : `, approved by ${approvers.map(escapeText).join(", ")}`;
  const what = kind === "grant" ? `grant ${escapeText(grant ?? "")} from` : "the answer to";
  return `${what} ${escapeText(question)}${who}: acp why ${escapeText(question)}`;
}

const RUNS: Readonly<Record<Run["state"], string>> = {
  ran: "it ran",
  failed: "it ran and failed",
  not_run: "it did not run",
  started: "it was started; the log has no end of it yet",
  waiting: "allowed, and nothing has started it yet",
  not_collected: "it did not run: nobody collected the approval in time",
  unknown: "nobody knows whether it ran",
  never: "it did not run",
};

function runText({ state, why, startedMs, endedMs, reported, secrets }: Run): string {
  const times = startedMs === undefined ? "" : runTimes(state, startedMs, endedMs);
  const because = why === undefined ? "" : `: ${escapeText(why)}`;
  const by = reported === true ? "; its host reported this, the gate did not see it" : "";
  const given =
    secrets.length === 0 ? "" : `; secrets put in: ${secrets.map(escapeText).join(", ")}`;
  return `${RUNS[state]}${times}${because}${by}${given}`;
}

/** Of a call that nobody saw ending, the end in the log is when that was found. */
function runTimes(state: Run["state"], startedMs: number, endedMs: number | undefined): string {
  const isSeen = state === "ran" || state === "failed";
  const lasted =
    isSeen && endedMs !== undefined && endedMs >= startedMs
      ? ` for ${took(endedMs - startedMs)}`
      : "";
  return lasted === ""
    ? `, started at ${clockOf(startedMs)}`
    : `, from ${clockOf(startedMs)}${lasted}`;
}

function proofLines({ state, code, detail }: ProofStatus, id: string): readonly string[] {
  if (state === "none") return [];
  if (state === "verified")
    return [line("proof", `the signed answers prove it: acp proof export ${escapeText(id)}`)];
  if (state === "unsigned") return [line("proof", "none: this home did not sign answers")];
  const why = `${escapeText(detail ?? "")}${code === undefined ? "" : ` [${escapeText(code)}]`}`;
  return [line("proof", `the signed answers do NOT prove it: ${why}`)];
}

/** Numbers of events, neighbors as a range: `51 to 56, 503`. */
function eventNumbers(events: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const seq of events) {
    const last = ranges.at(-1);
    if (last !== undefined && seq === last[1] + 1) last[1] = seq;
    else ranges.push([seq, seq]);
  }
  const texts = ranges.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`));
  return `${events.length === 1 ? "event" : "events"} ${texts.join(", ")}`;
}
