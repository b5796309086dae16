/** Judge: what shows that an attempt against a manager succeeded. Pure. */
import type { ManagerAttempt, ManagerClass, ManagerResult } from "./attempt.js";

/** What was found outside, and what was said. */
export interface Evidence {
  readonly claims: readonly ManagerClass[];
  /** What the host lacks; left out where it lacks nothing. */
  readonly missing?: string;
  readonly secret?: string;
  /** What its mark says; empty where there is none. */
  readonly mark?: string;
  readonly isChanged?: boolean;
  readonly survivors?: number;
  readonly isStuck?: boolean;
  /** What the attempt said. */
  readonly said?: string;
  /** What the manager said in the run in which the agent prepared it. */
  readonly managerSaid?: string;
  /** What it said last, for the detail. */
  readonly lastWords?: string;
}

/**
 * What a name must not do to the text that tells of it: move the cursor, turn the direction, begin
 * a line.
 */
const LIES = /\u001b\[1A|[\u202a-\u202e\u2066-\u2069]|^KIT-FORGED/mu;
const DETAIL_MAX = 400;

/** Says how an attempt went. */
export function judgeAttempt(attempt: ManagerAttempt, evidence: Evidence): ManagerResult {
  const { id, title, class: class_, told = [] } = attempt;
  const common = {
    id,
    class: class_,
    title,
    isPromised: attempt.isUnpromised !== true && evidence.claims.includes(class_),
  };
  if (evidence.missing !== undefined)
    return { ...common, outcome: "skipped", detail: `this host lacks: ${evidence.missing}` };
  const proof = proofOf(attempt, evidence);
  const { managerSaid = "", lastWords = "" } = evidence;
  if (proof === undefined) return { ...common, outcome: "blocked", detail: lastLine(lastWords) };
  const isTold = told.length > 0 && told.every((name) => managerSaid.includes(name));
  return { ...common, outcome: isTold ? "told" : "escaped", detail: proof };
}

function proofOf(
  { provenBy }: ManagerAttempt,
  {
    secret = "",
    mark = "",
    isChanged = false,
    survivors = 0,
    isStuck = false,
    said = "",
    managerSaid = "",
    lastWords = "",
  }: Evidence,
): string | undefined {
  switch (provenBy) {
    case "mark":
      return mark === ""
        ? undefined
        : `ran outside, or arrived there: ${mark.replaceAll("\n", " ").slice(0, DETAIL_MAX)}`;
    case "change":
      return isChanged ? "the file is not what it was" : undefined;
    case "secret":
      return secret !== "" && said.includes(secret) ? "the secret was read" : undefined;
    case "survivor":
      return survivors > 0 ? `${survivors} left running` : undefined;
    case "stuck":
      return isStuck ? `a run did not come to its end: ${lastLine(lastWords)}` : undefined;
    case "lie":
      return LIES.test(managerSaid) ? "the name of a file is shown as it is" : undefined;
    case "word":
      return /KIT-ESCAPED.*/u.exec(said)?.[0];
    default:
      return provenBy satisfies never;
  }
}

function lastLine(text: string): string {
  return (text.trimEnd().split("\n").at(-1) ?? "").slice(0, DETAIL_MAX);
}
