/**
 * OutcomeBook: what the events of audit logs say became of each question: how it ended, and of a
 * yes whether it ran. Pure; spec/audit.md has the events.
 */
import type { AuditEvent } from "@acp/audit";
import type { QuestionOutcome, RunOutcome } from "@acp/channel-web";
import type { EndStatus, JsonObject } from "@acp/core";

/** Questions remembered, the newest of them. */
const QUESTIONS_MAX = 20_000;

const ENDS: Readonly<Partial<Record<string, EndStatus>>> = {
  consent_approved: "approved",
  consent_denied: "denied",
  consent_expired: "expired",
  consent_cancelled: "cancelled",
  consent_failed: "failed",
  consent_superseded: "superseded",
};
const RUNS: Readonly<Partial<Record<string, RunOutcome>>> = {
  performed: { state: "ran" },
  failed: { state: "failed" },
  // As the gate itself tells it.
  cancelled: { state: "ran", error: "its reader left before the end" },
  not_performed: { state: "not_run" },
};

/** What was read so far. */
export interface OutcomeBook {
  take(event: Pick<AuditEvent, "eventType" | "requestId" | "atMs" | "metadata">): void;
  /** Nothing where the question has no end yet. */
  find(id: string): QuestionOutcome | undefined;
}

interface Page {
  end?: Omit<QuestionOutcome, "id" | "run">;
  run?: RunOutcome;
}

const textOf = (metadata: JsonObject, key: string): string => {
  const value = metadata[key];
  return typeof value === "string" ? value : "";
};

/**
 * What the log says why; a reason says more than the kind of an error, and is what whoever approved
 * it was told.
 */
function withWhy(run: RunOutcome, metadata: JsonObject): RunOutcome {
  const error = ["reason", "error"].map((key) => textOf(metadata, key)).find((text) => text !== "");
  return error === undefined ? run : { ...run, error };
}

/**
 * A log's event that is no call's own end says nothing against one: gates with logs of their own
 * may have written them in any order.
 */
function isEnded({ run }: Page): boolean {
  return (
    run !== undefined &&
    run.state !== "waiting" &&
    run.state !== "started" &&
    run.state !== "unknown"
  );
}

function noteRun(page: Page, { eventType, metadata }: Parameters<OutcomeBook["take"]>[0]): void {
  if (eventType === "tool_call_forwarded") page.run ??= { state: "started" };
  else if (eventType === "tool_call_completed")
    page.run = withWhy(
      RUNS[textOf(metadata, "outcome")] ?? page.run ?? { state: "unknown" },
      metadata,
    );
  else if (eventType === "consent_not_collected" && !isEnded(page))
    page.run = withWhy({ state: "not_collected" }, metadata);
  else if (eventType === "outcome_unknown" && !isEnded(page))
    page.run = withWhy({ state: "unknown" }, metadata);
}

function note(page: Page, event: Parameters<OutcomeBook["take"]>[0]): void {
  const { eventType, atMs, metadata } = event;
  const status = ENDS[eventType];
  if (status !== undefined) {
    const isEdited = status === "approved" && metadata["approved_parameters"] !== undefined;
    page.end = {
      status: isEdited ? "approved_with_modifications" : status,
      reason: textOf(metadata, "reason"),
      atMs,
    };
  } else noteRun(page, event);
}

/** Nothing read yet. */
export function createOutcomeBook(): OutcomeBook {
  const pages = new Map<string, Page>();
  return {
    take(event) {
      const { requestId } = event;
      if (requestId === "") return;
      const page = pages.get(requestId) ?? {};
      pages.set(requestId, page);
      note(page, event);
      const [oldest] = pages.keys();
      if (pages.size > QUESTIONS_MAX && oldest !== undefined) pages.delete(oldest);
    },
    find(id) {
      const page = pages.get(id);
      if (page?.end === undefined) return undefined;
      const isYes = page.end.status.startsWith("approved");
      return { id, ...page.end, ...(isYes ? { run: page.run ?? { state: "waiting" } } : {}) };
    },
  };
}
