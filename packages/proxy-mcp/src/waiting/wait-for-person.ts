/**
 * Wait for a person: what a call does from the question to its answer, or to "call again".
 */
import type { Clock, Pending, Verdict } from "@acp/core";
import { declinedResult, pendingResult } from "../call-result.js";
import type { NoticeResult } from "../call-result.js";
import type { ClientRequest } from "../message.js";
import { reportProgress } from "../report-progress.js";
import type { RpcId } from "../rpc.js";
import { describeWait } from "./question-text.js";
import type { HeldCall, Hold, Waiting } from "./waiting.js";

/** A call that may have to wait. */
export interface PersonCall {
  readonly parts: {
    readonly clock: Clock;
    readonly progressEveryMs: number;
    readonly pendingAfterMs: number;
    readonly send: (line: Buffer) => void;
    readonly waiting?: Waiting | undefined;
  };
  readonly job: {
    readonly server: string;
    readonly tool: string;
    readonly progressToken: RpcId | undefined;
    readonly request?: ClientRequest | undefined;
  };
  readonly startedMs: number;
  readonly cancelled: boolean;
  readonly clientGone: boolean;
  /** Set where its server is gone. */
  readonly failure: object | undefined;
  /** The open question. */
  pending: Pending | undefined;
  /** Takes the call's answer, where its client was told of a task. */
  deliver: ((line: Buffer) => void) | undefined;
}

/**
 * While a person decides: progress for the client, a page to answer on where it can show one, and
 * after a while "call again".
 *
 * @param giveUp - See {@link HeldCall}.
 * @returns The verdict, or the call's answer where the decision is kept for a retry, or the client's
 *   user declined.
 */
export async function waitForPerson(
  call: PersonCall,
  pending: Pending,
  giveUp: HeldCall["giveUp"],
): Promise<Verdict | Buffer | NoticeResult> {
  const { parts, job } = call;
  call.pending = pending;
  if (call.failure !== undefined) void pending.withdraw("the server is gone");
  else if (call.clientGone || call.cancelled) void pending.leave("the client is gone");
  const { server, tool, request } = job;
  const hold = await parts.waiting?.hold({ pending, server, tool, request, giveUp });
  if (hold?.task !== undefined) {
    call.deliver = (line) => hold.task?.deliver(line);
    parts.send(hold.task.created);
  }
  let verdict: Verdict | undefined;
  try {
    verdict = await verdictInTime(call, pending, hold);
  } finally {
    call.pending = undefined;
    hold?.over(verdict !== undefined);
  }
  if (verdict === undefined) return hold?.answer ?? pendingResult(pending);
  if (verdict.decision === "deny" && hold?.isDeclined() === true)
    return declinedResult(pending.requestId);
  return verdict;
}

/** `undefined`: the decision is kept for the retry. */
async function verdictInTime(
  call: PersonCall,
  pending: Pending,
  hold: Hold | undefined,
): Promise<Verdict | undefined> {
  const { parts, job, startedMs } = call;
  // Whoever asks for a task's state again and again need not call again.
  if (hold?.task !== undefined) return pending.settled;
  const stopWaiting = new AbortController();
  const { signal } = stopWaiting;
  const patienceMs = hold?.answer === undefined ? parts.pendingAfterMs : 0;
  const leftMs = Math.max(0, patienceMs - (parts.clock.monotonic() - startedMs));
  const tooLate =
    patienceMs === 0
      ? Promise.resolve(undefined)
      : parts.clock.sleep(leftMs, { signal }).then(
          () => undefined,
          () => undefined,
        );
  const { server, tool, progressToken: token } = job;
  const message = describeWait({ server, tool, requestId: pending.requestId });
  reportProgress({ ...parts, token, message, signal }).catch(() => {});
  try {
    const verdict = await Promise.race([pending.settled, tooLate]);
    if (verdict !== undefined) return verdict;
    return call.cancelled || !(await pending.defer()) ? await pending.settled : undefined;
  } finally {
    stopWaiting.abort(new Error("the question is over"));
  }
}
