/**
 * The text a person sees: made here and nowhere else, from the whole question, and hashed with it.
 * It states facts and judges none. Every line that an agent can influence is a JSON literal with
 * hiding characters escaped, so a value cannot pose as a line of ours. What decides stands above
 * the arguments, and below long ones once more. Format: spec/question-text.md.
 */
import type { Action } from "../action/action.js";
import { remarkOnServerRequest } from "../action/reserved.js";
import { remarkOnMentions } from "../guard/mentions.js";
import { layOutArguments } from "./argument-text.js";
import { escapeText } from "@acp/exec-safety/text";
import { showOffer, showStep } from "./offer-text.js";
import type { ConsentRequest } from "./request.js";
import { showMany, showName, showText, wrapLine } from "./show.js";
import { isoTime } from "../time.js";
import type { ToolDefinition } from "../types/agent.js";

function showAgent({ agent }: QuestionParts): string {
  const name =
    agent.name === undefined || agent.name === agent.id
      ? ""
      : ` (calls itself ${showText(agent.name)})`;
  const parents =
    agent.parents === undefined || agent.parents.length === 0
      ? ""
      : `, started by ${agent.parents.map(showName).join(" < ")}`;
  return `${showName(agent.id)}${name}${parents}`;
}

/** Everything of a question but its text. */
export type QuestionParts = Omit<ConsentRequest, "text">;

const DESCRIPTION_CHARS_MAX = 200;
/** Arguments with more rows are long: what decides is said again below them. */
const ROWS_LONG = 30;
const KEY_CHARS_MAX = 60;
/**
 * What decides is cut here, and stands whole below the arguments: a long name must not push the
 * risk out of view.
 */
const FACT_CHARS_MAX = 1_000;
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** The beginning of a text, no character cut in half. */
const clip = (text: string, chars: number): string =>
  text.length <= chars ? text : `${text.slice(0, chars).replace(/[\ud800-\udbff]$/, "")}…`;

/** One line for a list of questions; cut where it is long, the whole action stands below it. */
export function describeAction(action: Action): string {
  const line = describeWhole(action);
  return line.length <= DESCRIPTION_CHARS_MAX
    ? line
    : `${clip(line, DESCRIPTION_CHARS_MAX)} (${line.length} characters)`;
}

function describeWhole(action: Action): string {
  switch (action.meta.kind) {
    case "tool":
      return `call ${showName(action.name)} on ${showName(action.meta.server)}`;
    case "http":
      return `${action.name} ${escapeText(action.meta.url ?? `${action.meta.host}:${action.meta.port}`)}`;
    case "shell":
      return `run ${showText(typeof action.args === "string" ? action.args : "")}`;
    default:
      action.meta satisfies never;
      return "";
  }
}

/**
 * What decides: who wants what by which rule, what a yes covers, until when, and the digest of it.
 */
function showFacts(question: QuestionParts, ruleReason: string): readonly string[] {
  const { action, policy, secrets, quorum, offers, escalation = [] } = question;
  const isCut = action.description.length > DESCRIPTION_CHARS_MAX;
  return [
    `Agent: ${showAgent(question)}`,
    `Wants: ${escapeText(action.description)}`,
    ...(isCut ? [`Tool:  ${showName(action.tool)} on ${showName(action.server)}`] : []),
    `Risk:  ${policy.requiredLevel} (${action.category})`,
    `Rule:  ${showName(policy.ruleId)}${policy.ruleName === "" ? "" : ` ${showText(policy.ruleName)}`}: ${escapeText(ruleReason)}`,
    ...(secrets.length > 0
      ? [`A yes releases the secrets: ${secrets.map(showName).join(", ")}`]
      : []),
    ...(quorum > 1 ? [`Needs ${quorum} different people`] : []),
    `Open until: ${isoTime(question.expiresAtMs)}`,
    `Digest: ${question.actionDigest}`,
    ...(offers.length > 0
      ? ["A yes may also cover, if you choose it:", ...offers.map(showOffer)]
      : []),
    ...(escalation.length > 0 ? ["While nobody answers:", ...escalation.map(showStep)] : []),
  ];
}

const showCut = (line: string): string =>
  line.length <= FACT_CHARS_MAX
    ? line
    : `${clip(line, FACT_CHARS_MAX)} (${showMany(line.length, "character")}, in full below)`;

const FIRST_SEEN = "the tool's definition was first seen within a day, and nobody has reviewed it";

/** What is known of the tool besides its name. */
function remarkOnTool(tool: ToolDefinition | undefined): readonly string[] {
  const first = tool?.pinned === "new" ? [FIRST_SEEN] : [];
  return [...first, ...(tool?.notes ?? []).map((note) => escapeText(note))];
}

/** The whole question as plain lines of text. */
export function renderText(
  question: QuestionParts,
  ruleReason: string,
  tool?: ToolDefinition,
): string {
  const { command = "" } = question.agent;
  const { rows, notes: noted, longest } = layOutArguments(question.action.parameters);
  const request = remarkOnServerRequest(question.action.tool);
  const notes = [
    ...(request === undefined ? [] : [request]),
    ...remarkOnTool(tool),
    ...remarkOnMentions(question.action.parameters),
    ...noted,
  ];
  const facts = showFacts(question, ruleReason);
  const started = command === "" ? [] : wrapLine(`Started as: ${showText(command)}`);
  const full = facts
    .filter((line) => line.length > FACT_CHARS_MAX)
    .flatMap((line) => wrapLine(`  ${line}`));
  const isLong = rows.length + started.length + full.length > ROWS_LONG;
  const size = `${showMany(rows.length, "row")} of arguments, the longest text in ${showText(clip(longest.key, KEY_CHARS_MAX))}: ${showMany(longest.length, "character")}`;
  const mayReorder = [...facts, ...started, ...rows].some((row) => RIGHT_TO_LEFT.test(row));
  const remarks = mayReorder
    ? [
        ...notes,
        "right-to-left letters stand here; a screen may show what is around them in another order",
      ]
    : notes;
  const head = [
    ...facts.map(showCut),
    ...remarks.map((note) => `Note:  ${note}`),
    ...(isLong ? [`Size:  ${size}`] : []),
  ].flatMap(wrapLine);
  const below = [
    ...(full.length > 0 ? ["In full:", ...full] : []),
    ...(isLong ? ["Again, what is asked:", ...head] : []),
  ];
  return [...head, ...started, "With:", ...rows, ...below].join("\n");
}
