/**
 * The approval state machine: one pure reducer. Format of a record: spec/consent.md §5.
 *
 * created → delivered → approved | approved_with_modifications | denied | expired | cancelled | failed | superseded; one end only.
 */
import type { JsonObject } from "../json/value.js";
import type { EndStatus } from "../ports.js";
import type { ConsentRequest } from "./request.js";

/** One counted yes. */
export interface CountedApproval {
  readonly approverId: string;
  readonly channel: string;
  readonly atMs: number;
}

/** How a question ended, as kept. */
export interface RecordedEnd {
  readonly status: EndStatus;
  readonly atMs: number;
  readonly reason: string;
  readonly approverIds: readonly string[];
  /** With `approved_with_modifications`: the parameters to perform. */
  readonly modifications?: JsonObject;
  readonly successorId?: string;
  /** Until when a kept decision may be adopted by a retry. */
  readonly validUntilMs: number;
  /** True once the audit events of the end are durable; nothing is released before. */
  readonly recorded: boolean;
}

/** One question and where it stands. Plain JSON data; replaced as a whole with a higher `version`. */
export interface PendingRecord {
  readonly id: string;
  readonly version: number;
  readonly status: "created" | "delivered" | "ended";
  readonly request: ConsentRequest;
  readonly agentId: string;
  /** Digest of the action the agent asked for first: the key of a retry. */
  readonly originalDigest: string;
  /** The action asked about, as `parseAction` reads it. */
  readonly action: JsonObject;
  readonly approvals: readonly CountedApproval[];
  /** The caller was told "call again". */
  readonly deferred: boolean;
  /** A retry took the decision. */
  readonly adopted: boolean;
  readonly end?: RecordedEnd;
}
