/**
 * HubResolve: `resolveExecApproval`, from a client's decision to its reply. A decision that is not
 * taken leaves the request as it is.
 */
import type { AnswerReceipt, RefusalCode } from "@acp/core";
import type { HubChannel, OpenApproval } from "./hub-channel.js";
import { APPROVAL_DECISIONS } from "./protocol.js";
import type {
  ResolveExecApprovalParams,
  ResolveExecApprovalResult,
  RpcOutcome,
} from "./protocol.js";

/** What became of `allow-always`. */
export type Remembered = Omit<ResolveExecApprovalResult, "ok">;

/** What answering needs. */
export interface ResolveParts {
  readonly channel: HubChannel;
  /** Stores what `allow-always` allows. Never rejects. */
  readonly remember: (open: OpenApproval, from: string) => Promise<Remembered>;
  /** Work that the caller of the command waits for, by question. */
  readonly settling: Map<string, Promise<unknown>>;
}

type Outcome = RpcOutcome<ResolveExecApprovalResult>;

const fail = (code: string, message: string): Outcome => ({ ok: false, error: { code, message } });
const done = (more: Remembered = {}): Outcome => ({ ok: true, payload: { ok: true, ...more } });
const notFound = (): Outcome => fail("NOT_FOUND", "Approval request not found or already resolved");

/** The protocol's code for a refusal; what has none is `REFUSED`. */
const CODES: Partial<Readonly<Record<RefusalCode, string>>> = {
  approver_unknown: "FORBIDDEN",
  approver_not_allowed: "FORBIDDEN",
  approver_too_early: "FORBIDDEN",
  confirmation_required: "CONFIRMATION_REQUIRED",
};
const OVER: readonly RefusalCode[] = ["request_unknown", "request_ended", "already_answered"];

function replyTo(receipt: AnswerReceipt): Outcome {
  switch (receipt.status) {
    case "final":
      return receipt.outcome === "failed"
        ? fail("FAILED", "The decision could not be recorded; the command is denied")
        : done();
    case "counted":
      return done({ note: `counted: ${receipt.have} of ${receipt.need}; the request stays open` });
    case "reshow":
      return done({ note: "a new request replaced it" });
    case "refused":
      return OVER.includes(receipt.code)
        ? notFound()
        : fail(CODES[receipt.code] ?? "REFUSED", receipt.reason);
    default:
      return receipt satisfies never;
  }
}

async function answer(
  { channel, remember }: ResolveParts,
  open: OpenApproval,
  by: ResolveBy,
): Promise<Outcome> {
  const { params, from } = by;
  const receipt = await channel.submit(open, params, from);
  const isYes = receipt.status === "final" && receipt.outcome === "approved";
  return isYes && params.decision === "allow-always"
    ? done(await remember(open, from))
    : replyTo(receipt);
}

interface ResolveBy {
  readonly params: ResolveExecApprovalParams;
  readonly from: string;
}

/** Takes a client's decision. Never rejects. */
export async function resolveApproval(
  parts: ResolveParts,
  params: ResolveExecApprovalParams,
  from: string,
): Promise<Outcome> {
  const { approvalId, decision } = params;
  if (!APPROVAL_DECISIONS.includes(decision))
    return fail("INVALID_PARAMS", `"decision" is not one of ${APPROVAL_DECISIONS.join(", ")}`);
  const open = parts.channel.find(approvalId);
  if (open === undefined) return notFound();
  const { id } = open.request;
  const answered = answer(parts, open, { params, from }).catch((error: unknown) =>
    fail("FAILED", error instanceof Error ? error.message : "The decision could not be processed"),
  );
  if (decision !== "allow-always") return answered;
  // Whoever waits for the command goes on when its program stands in the allowlist, so that its
  // next command meets it there. Two people may say so at once: the one whose answer does not count
  // must not hide that the other's is still being stored.
  const settled = Promise.allSettled([parts.settling.get(id), answered]).finally(() => {
    if (parts.settling.get(id) === settled) parts.settling.delete(id);
  });
  parts.settling.set(id, settled);
  return answered;
}
