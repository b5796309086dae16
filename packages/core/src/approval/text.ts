/**
 * The text a person sees: made here and nowhere else, from the whole question, and hashed with it.
 * Every line that an agent can influence is a JSON literal with hiding characters escaped, so a value cannot pose as a line of ours.
 */
import type { Action } from "../action/action.js";
import { escapeText, quoteText } from "./escape.js";
import { showName, showOffer } from "./offer-text.js";
import type { ConsentRequest } from "./request.js";
import { isoTime } from "../time.js";

function showAgent({ agent }: QuestionParts): string {
  const name = agent.name === undefined || agent.name === agent.id ? "" : ` (calls itself ${quoteText(agent.name)})`;
  const parents =
    agent.parents === undefined || agent.parents.length === 0 ? "" : `, started by ${agent.parents.map(showName).join(" < ")}`;
  return `${showName(agent.id)}${name}${parents}`;
}

/** Everything of a question but its text. */
export type QuestionParts = Omit<ConsentRequest, "text">;

const DESCRIPTION_CHARS_MAX = 200;

/** One line for a list of questions; cut where it is long, the whole action stands below it. */
export function describeAction(action: Action): string {
  const line = describeWhole(action);
  return line.length <= DESCRIPTION_CHARS_MAX ? line : `${line.slice(0, DESCRIPTION_CHARS_MAX)}… (${line.length} characters)`;
}

function describeWhole(action: Action): string {
  switch (action.meta.kind) {
    case "tool":
      return `call ${showName(action.name)} on ${showName(action.meta.server)}`;
    case "http":
      return `${action.name} ${escapeText(action.meta.url ?? `${action.meta.host}:${action.meta.port}`)}`;
    case "shell":
      return `run ${quoteText(typeof action.args === "string" ? action.args : "")}`;
    default:
      action.meta satisfies never;
      return "";
  }
}

/** The whole question as plain lines of text. */
export function renderText(question: QuestionParts, ruleReason: string): string {
  const { action, policy } = question;
  const lines = [
    `Agent: ${showAgent(question)}`,
    `Wants: ${action.description}`,
    `Risk:  ${policy.requiredLevel} (${action.category})`,
    `Rule:  ${showName(policy.ruleId)}${policy.ruleName === "" ? "" : ` ${quoteText(policy.ruleName)}`}: ${escapeText(ruleReason)}`,
    "With:",
    ...escapeLines(JSON.stringify(action.parameters, undefined, 2)),
  ];
  if (question.agent.command !== undefined && question.agent.command !== "")
    lines.splice(1, 0, `Started as: ${quoteText(question.agent.command)}`);
  if (question.secrets.length > 0) lines.push(`A yes releases the secrets: ${question.secrets.map(showName).join(", ")}`);
  if (question.quorum > 1) lines.push(`Needs ${question.quorum} different people`);
  if (question.offers.length > 0) lines.push("A yes may also cover, if you choose it:", ...question.offers.map(showOffer));
  lines.push(`Open until: ${isoTime(question.expiresAtMs)}`, `Digest: ${question.actionDigest}`);
  return lines.join("\n");
}

// JSON.stringify's own line breaks separate lines; everything inside a line is escaped.
function escapeLines(json: string): string[] {
  return json.split("\n").map((line) => `  ${escapeText(line)}`);
}
