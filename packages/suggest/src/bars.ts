/**
 * Bars: what no suggestion may ever allow, however often it was approved. Data and tests on it.
 * Pure. Who is asked about such calls is meant to look every time.
 */
import { isHttpAction, isToolAction } from "@acp/core";
import type { Action, Classification, RiskLevel, Ruling } from "@acp/core";
import type { LoggedQuestion } from "./joiner.js";
import { holdsSecret } from "./logged-call.js";

/** Why something is never allowed by a suggestion. */
export type Bar =
  | "risk"
  | "category"
  | "name"
  | "quorum"
  | "passkey"
  | "approvers"
  | "secrets"
  | "edited";

/** Each bar in words, after "not suggested:". */
export const BAR_TEXTS: Readonly<Record<Bar, string>> = {
  risk: "its level is high or critical",
  category: "its category is one that a person reviews every time",
  name: "its name says that it deletes, runs, pays, sends or changes rights",
  quorum: "several people must agree",
  passkey: "approving it needs a passkey",
  approvers: "the rule that asks names who must be asked",
  secrets: "it uses a secret",
  edited: "it was approved only with edits",
};

const LOOSE_LEVELS: ReadonlySet<string> = new Set(["low", "medium"] satisfies readonly RiskLevel[]);
const LOOSE_CATEGORIES: ReadonlySet<string> = new Set([
  "read",
  "write",
] satisfies readonly Classification["category"][]);

/** A set of words, written one after another. */
export function listed(...rows: readonly string[]): ReadonlySet<string> {
  return new Set(rows.flatMap((row) => row.split(" ")));
}

/** Beginnings of words that take something away; of whatever call, reading ones too. */
const TAKING =
  /^(?:delet|remov|destroy|eras|purg|truncat|unlink|terminat|shutdown|uninstall|overwrit|discard|rollback|revok|reset|drop|wip(?:e|ing)|exec)/;
/** The same, where only the whole word says so. */
const TAKING_WORDS: ReadonlySet<string> = listed(
  "rm rmdir del kill clear prune trash shell bash sudo eval",
);
/**
 * Words that run, spend, reach other people or change who may do what. A call that reads may have
 * them in its name.
 */
const REACHING_WORDS: ReadonlySet<string> = listed(
  "run runs command script spawn install deploy invoke sql",
  "pay payment payments transfer charge buy purchase order refund sell trade withdraw",
  "send email mail message publish post tweet share invite notify reply",
  "grant permission permissions role roles password credential credentials secret token key keys",
);

/** The words of a name, in lower case: `deleteFile`, `delete-file` and `delete_file` alike. */
export function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** Whether a name, or a word in an argument, says that something is taken away or run. */
export function saysTaking(name: string): boolean {
  return wordsOf(name).some((word) => TAKING.test(word) || TAKING_WORDS.has(word));
}

const reaches = (name: string): boolean => wordsOf(name).some((word) => REACHING_WORDS.has(word));

/** What is known of a question that was answered. */
export interface Answered {
  readonly action: Action;
  /** As it was asked. */
  readonly question: LoggedQuestion;
  /** As the policy asks now. */
  readonly ruling: Ruling | undefined;
  readonly classification: Classification;
}

/** Why an approval of this call never counts, or `undefined`. */
export function barOf({ action, question, ruling, classification }: Answered): Bar | undefined {
  const { category, risk } = classification;
  if (!LOOSE_CATEGORIES.has(category)) return "category";
  if (
    isHttpAction(action)
      ? action.meta.method === "DELETE"
      : !isToolAction(action) || isNamedBarred(action.name, category)
  )
    return "name";
  if (
    !LOOSE_LEVELS.has(question.riskLevel) ||
    !LOOSE_LEVELS.has(ruling?.level ?? risk) ||
    !LOOSE_LEVELS.has(risk)
  )
    return "risk";
  if (question.quorum > 1 || (ruling?.ask?.quorum ?? 1) > 1) return "quorum";
  if (question.wantsPasskey || ruling?.ask?.evidence === "passkey") return "passkey";
  if (ruling?.ask?.approvers !== undefined) return "approvers";
  if (question.hasSecrets || (ruling?.secrets?.length ?? 0) > 0 || holdsSecret(action))
    return "secrets";
  return undefined;
}

function isNamedBarred(name: string, category: Classification["category"]): boolean {
  return saysTaking(name) || (category !== "read" && reaches(name));
}
