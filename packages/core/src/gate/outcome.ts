/**
 * Outcomes: what became of an action that was allowed, as the log keeps it. Everything that the log
 * learns of a performance is written here, whether the gate performed it or a host reports it.
 */
import { type ConsentOutcome, makeConsentOutcome } from "../approval/consent-outcome.js";
import { ConsentError } from "../errors.js";
import type { JsonObject } from "../json/value.js";
import type { PerformParts } from "./gate-parts.js";
import type { AppendTerms } from "../ports.js";
import type { Outcome, ReportedOutcome } from "./reports.js";
import type { AuditReceipt } from "../types/audit-event.js";
import type { Issued } from "../permit.js";

type OutcomeParts = Pick<PerformParts, "append" | "yeses">;

/** Characters of an outcome's `error`: a kind, not a text. */
const ERROR_CHARS_MAX = 100;

const STATUSES: Readonly<Record<ReportedOutcome["status"], true>> = {
  forwarded: true,
  performed: true,
  failed: true,
  not_performed: true,
  cancelled: true,
};

/**
 * What a host says, copied and checked.
 *
 * @throws ConsentError `options_invalid`.
 */
export function readOutcome(given: unknown): ReportedOutcome {
  if (typeof given !== "object" || given === null || !("status" in given))
    throw invalid("it is not an object with a status");
  const { status } = given;
  const error = "error" in given ? given.error : undefined;
  if (!isStatus(status)) throw invalid(`its status is not ${Object.keys(STATUSES).join(", ")}`);
  if (error === undefined) return { status };
  if (status !== "failed" && status !== "not_performed")
    throw invalid(`an outcome "${status}" has no error`);
  if (typeof error !== "string" || error === "" || error.length > ERROR_CHARS_MAX)
    throw invalid(`its error is not the name of one, in at most ${ERROR_CHARS_MAX} characters`);
  return { status, error };
}

const isStatus = (status: unknown): status is ReportedOutcome["status"] =>
  typeof status === "string" && Object.hasOwn(STATUSES, status);

const invalid = (why: string): ConsentError =>
  new ConsentError("options_invalid", `Cannot report the outcome: ${why}`);

/** The outcome of what threw: its kind alone. */
export function failureOf(thrown: unknown): Outcome {
  return { status: "failed", error: thrown instanceof Error ? thrown.name : typeof thrown };
}

/**
 * Writes down that the action is about to be performed, and before it what allowed it, where that is
 * not written yet: one write, so that it waits for the disk once.
 *
 * @param names - The secrets that were put in.
 * @returns What names this event in the one that ends it; empty where the sink gives no number.
 * @throws What the log throws.
 */
export async function recordForwarded(
  parts: OutcomeParts,
  { verdict, event, unwritten }: Issued,
  names: readonly string[] = [],
): Promise<JsonObject> {
  const injected = names.map((name) => event("credential_injected", "allow", { secret: name }));
  const { requestId, approvers } = verdict;
  parts.yeses.get(verdict.permit)?.begin();
  const forwarded = event(
    "tool_call_forwarded",
    "allow",
    requestId === undefined ? {} : { approvers: approvers ?? [] },
  );
  const isAll = injected.length === 0 && unwritten.length === 0;
  return numberOf(await parts.append(isAll ? [forwarded] : [...unwritten, ...injected, forwarded]));
}

/** Writes down what allowed an action that was not performed. Never rejects: it is a no. */
export async function recordUnused(
  parts: Pick<OutcomeParts, "append">,
  { unwritten }: Issued,
): Promise<void> {
  if (unwritten.length > 0) await parts.append(unwritten).catch(() => undefined);
}

/**
 * A receipt has the number of the last event of its batch. A sink may be JavaScript and give none.
 */
function numberOf(receipt: AuditReceipt | undefined): JsonObject {
  const seq = receipt?.seq;
  return Number.isSafeInteger(seq) && seq !== undefined ? { forwarded_seq: seq } : {};
}

/** An end, and what the log knows beside it. */
export interface Ended {
  readonly outcome: Outcome;
  /** What {@link recordForwarded} gave; empty where nothing was forwarded. */
  readonly forwarded: JsonObject;
  /** Present where a host says so and the gate did not see it. */
  readonly reported?: true | undefined;
  /** When it has to be written; at once unless given. */
  readonly terms?: AppendTerms | undefined;
}

/** The same for who approved it. */
function consentOutcome(outcome: Outcome): ConsentOutcome {
  switch (outcome.status) {
    case "performed":
      return makeConsentOutcome("ran");
    case "cancelled":
      return makeConsentOutcome("ran", "its reader left before the end");
    case "failed":
    case "not_performed":
      return makeConsentOutcome(outcome.status, outcome.error);
    default:
      return outcome satisfies never;
  }
}

function outcomeJson({ outcome: { status, ...kind }, forwarded, reported }: Ended): JsonObject {
  return {
    outcome: status,
    ...kind,
    ...(reported === undefined ? {} : { reported }),
    ...forwarded,
  };
}

/**
 * Writes down how it ended; of what was not forwarded first what allowed it. Never rejects: false
 * where the log could not keep it.
 */
export async function recordOutcome(
  parts: OutcomeParts,
  { verdict, event, unwritten }: Issued,
  { outcome, forwarded, reported, terms }: Ended,
): Promise<boolean> {
  const metadata: JsonObject =
    outcome.status === "performed" && reported === undefined
      ? { outcome: outcome.status, ...forwarded }
      : outcomeJson({ outcome, forwarded, reported });
  try {
    await parts.append([...unwritten, event("tool_call_completed", "allow", metadata)], terms);
    return true;
  } catch {
    return false;
  } finally {
    parts.yeses.get(verdict.permit)?.settle(consentOutcome(outcome));
  }
}
