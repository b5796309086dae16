/**
 * Tool call: one `tools/call` from its arrival to its answer. Check → gate → forward → answer;
 * every call on its own, none waits for another. What reaches the server is what the gate released,
 * once; without a release nothing is sent.
 */
import { isDeepStrictEqual } from "node:util";
import { isConsentError, isToolAction, toolAction } from "@acp/core";
import type {
  Agent,
  ArgumentCheck,
  Clock,
  ConsentGate,
  GateContext,
  JsonObject,
  Pending,
  PerformOptions,
  Release,
  RunResult,
  ToolAction,
  ToolDefinition,
} from "@acp/core";
import { prepareCheck } from "./argument-check.js";
import type { Aside } from "./aside.js";
import { answerFailure } from "./answer-failure.js";
import {
  brokenResult,
  deniedResult,
  invalidResult,
  timedOutResult,
  unavailableResult,
} from "./call-result.js";
import type { NoticeResult } from "./call-result.js";
import type { CallLimits, CallTurn } from "./call-limits.js";
import { CallCancelledError, CallTimedOutError, ServerFailedError } from "./failure.js";
import type { ServerFailure } from "./failure.js";
import { logText } from "./log-text.js";
import { turnOfLong } from "./loop-turns.js";
import type { LoopTurns } from "./loop-turns.js";
import { unmaskable } from "./masks.js";
import type { Masks } from "./masks.js";
import { refuseInvalid } from "./refuse-invalid.js";
import { errorLine, resultLine } from "./rpc.js";
import type { RpcId } from "./rpc.js";
import type { ClientRequest } from "./message.js";
import { waitForPerson } from "./waiting/wait-for-person.js";
import type { Waiting } from "./waiting/waiting.js";

/** What all calls of a proxy share. */
export interface CallParts {
  readonly gate: ConsentGate;
  readonly agent: Agent;
  readonly session?: string;
  /** Present where the gate checks no arguments itself. */
  readonly argumentCheck?: ArgumentCheck;
  /** For what may take long. */
  readonly aside: Aside;
  /** In which lines are read, and what a long call takes is done a piece at a time. */
  readonly turns: LoopTurns;
  readonly clock: Clock;
  readonly masks: Masks;
  readonly progressEveryMs: number;
  readonly pendingAfterMs: number;
  /** How the client hears that a call waits for a person, beside progress. */
  readonly waiting?: Waiting | undefined;
  /** Id that the client gave the call with this id of its request, if it gave one. */
  readonly callOf?: (id: RpcId) => string | undefined;
  readonly log: (line: string) => void;
  /** To the client. */
  readonly send: (line: Buffer) => void;
}

/** One call, as its router hands it in. */
export interface CallJob {
  readonly id: RpcId;
  readonly server: string;
  /** The tool's name as its server knows it. */
  readonly tool: string;
  readonly args: JsonObject;
  /** Characters of the arguments as written. */
  readonly argumentChars: number;
  readonly progressToken: RpcId | undefined;
  /** Whether the client speaks the stateless era, whose results name their type. */
  readonly typedResults: boolean;
  /** The client's request, where it is one of its own. */
  readonly request?: ClientRequest | undefined;
  /** The tool as its server presents it; `undefined` where nothing is known of it. */
  definition(): Promise<ToolDefinition | undefined>;
  /**
   * Sends the call to its server.
   *
   * @param args - What to send instead of the arguments as received; `undefined` sends those.
   * @param onAnswer - Takes the answer's line.
   */
  forward(args: JsonObject | undefined, onAnswer: (line: Buffer) => void): void;
  /** What is judged before it is sent; gives the answer in place of its server's where it is not. */
  before?(signal: AbortSignal): Promise<Buffer | undefined> | undefined;
  /** The answer's line as the client shall see it; its server is done by then. */
  judge?(line: Buffer, signal: AbortSignal): Buffer | Promise<Buffer>;
  /** How the client is told why there is no answer; by a result of the tool unless given. */
  readonly tell?: ((notice: NoticeResult) => Buffer) | undefined;
  /** What its server may take, if that is limited. */
  readonly limits?: CallLimits | undefined;
  /** Tells the server that its answer is not waited for any more. */
  recall?(): void;
  /** Called once: the call is answered or needs no answer any more. */
  onOver(): void;
}

/** A call under way. */
export interface ToolCall {
  /**
   * The client takes the call back: no answer. An open question is held for its retry. True where
   * the server has the call and must be told.
   */
  cancel(): boolean;
  /** The client is gone: an open question is held for its retry; a call that needs none goes on. */
  leave(): void;
  /** The server is gone. */
  fail(failure: ServerFailure): void;
  /** Settles when the call is forwarded or over. */
  readonly sent: Promise<void>;
  /**
   * Settles when the call is answered, or needs no answer any more, and the log has what it can have
   * of it.
   */
  readonly over: Promise<void>;
}

interface Running {
  readonly parts: CallParts;
  readonly job: CallJob;
  readonly startedMs: number;
  phase: "judged" | "forwarded" | "over";
  /** Its place among the calls of its server, where those are limited. */
  readonly turn: CallTurn | undefined;
  /** Its server took too long for it. */
  timedOut: boolean;
  cancelled: boolean;
  /** Aborts what is not begun when it is canceled or its server is gone. */
  readonly stopped: AbortController;
  clientGone: boolean;
  failure: ServerFailure | undefined;
  /** The open question. */
  pending: Pending | undefined;
  /** Takes the answer, where the client was told of a task. */
  deliver: ((line: Buffer) => void) | undefined;
  /** Whether the log has its completion; true where there is none to keep. */
  completed: Promise<boolean>;
  /** Ends the wait for the server's answer. */
  recall: (error: Error) => void;
  tellSent: () => void;
}

const NOTHING_TO_KEEP = Promise.resolve(true);
const CLIENT_GONE = "the client is gone";

/** Takes a call in; its answer goes to `parts.send`. */
export function startCall(parts: CallParts, job: CallJob): ToolCall {
  const call: Running = {
    parts,
    job,
    startedMs: parts.clock.monotonic(),
    phase: "judged",
    turn: job.limits?.turn(),
    timedOut: false,
    cancelled: false,
    stopped: new AbortController(),
    clientGone: false,
    failure: undefined,
    pending: undefined,
    deliver: undefined,
    completed: NOTHING_TO_KEEP,
    recall: () => {},
    tellSent: () => {},
  };
  const sent = new Promise<void>((resolve) => {
    call.tellSent = resolve;
  });
  return {
    sent,
    over: run(call),
    cancel(): boolean {
      if (call.phase === "over") return false;
      call.cancelled = true;
      return stop(call, new CallCancelledError("the client canceled the call"));
    },
    leave(): void {
      call.clientGone = true;
      void call.pending?.leave(CLIENT_GONE);
      call.turn?.leave();
    },
    fail(failure: ServerFailure): void {
      call.failure = failure;
      if (call.phase !== "over") stop(call, new ServerFailedError(failure));
    },
  };
}

/**
 * Ends a call wherever it is: what is not forwarded never will be. True where its server has it.
 */
function stop(call: Running, error: Error): boolean {
  call.stopped.abort(error);
  if (call.phase === "forwarded") call.recall(error);
  // Who cancels may only be less patient than the person who is asked; a server that is gone can do
  // nothing with a yes.
  else if (call.cancelled) void call.pending?.leave(error.message);
  else void call.pending?.withdraw(error.message);
  return call.phase === "forwarded";
}

/** Its task is canceled: false where its server has it, which goes on. */
function giveUp(call: Running): boolean {
  if (call.phase !== "judged") return false;
  call.cancelled = true;
  call.stopped.abort(new CallCancelledError("the client canceled the task"));
  return true;
}

function isStopped({ cancelled, failure }: Running): boolean {
  return cancelled || failure !== undefined;
}

async function run(call: Running): Promise<void> {
  const { parts, job } = call;
  let answer: Buffer | NoticeResult;
  try {
    answer = await settle(call);
  } catch (error) {
    parts.log(
      `[${job.server}] a call failed inside the proxy: ${logText(error instanceof Error ? error.message : String(error))}`,
    );
    answer = brokenResult(call.phase === "forwarded");
  }
  if (call.timedOut && !Buffer.isBuffer(answer))
    answer = timedOutResult(job.server, call.turn?.timeoutMs ?? 0);
  else if (call.failure !== undefined && !Buffer.isBuffer(answer))
    answer = unavailableResult(call.failure, call.phase === "forwarded");
  call.phase = "over";
  const send = call.deliver ?? (call.cancelled ? undefined : parts.send);
  send?.(Buffer.isBuffer(answer) ? answer : noticeLine(job, answer));
  call.tellSent();
  job.onOver();
  if (!(await call.completed))
    parts.log(`[${job.server}] the audit log could not keep that a call is completed`);
}

function noticeLine({ id, typedResults, tell }: CallJob, notice: NoticeResult): Buffer {
  if (tell !== undefined) return tell(notice);
  return resultLine(id, typedResults ? { resultType: "complete", ...notice } : notice);
}

/** The call's answer: the server's line, or why there is none. */
async function settle(call: Running): Promise<Buffer | NoticeResult> {
  const { parts, job } = call;
  const { gate, agent, session, argumentCheck, callOf } = parts;
  // Before anything is waited for: the id of the request is free again once it is answered.
  const named = callOf?.(job.id);
  await turnOfLong(parts.turns, job.argumentChars);
  let action: ToolAction;
  try {
    action = toolAction(job.server, job.tool, job.args);
  } catch (error) {
    if (isConsentError(error)) return invalidResult(error.message);
    throw error;
  }
  await turnOfLong(parts.turns, job.argumentChars);
  const tool = await job.definition();
  await prepareCheck(action, tool, parts);
  const problem = argumentCheck?.check(action, tool);
  const context: GateContext = {
    agent,
    session,
    tool,
    obstacle: problem,
    ...(named !== undefined && { call: named }),
  };
  if (problem !== undefined) return refuseInvalid(gate, problem, await gate.open(action, context));
  const answer = await answered<Pending>(call, action, (perform) =>
    gate.runOrOpen(action, { perform, ...howOf(call) }, context),
  );
  if (!("settled" in answer)) return answer;
  const verdict = await waitForPerson(call, answer, () => giveUp(call));
  if (!("decision" in verdict)) return verdict;
  if (verdict.decision === "deny") return deniedResult(verdict);
  // A yes for a client that is gone is not acted on.
  return call.clientGone || isStopped(call)
    ? givenUp(call)
    : answered<never>(call, action, (perform) => gate.perform(verdict, perform, howOf(call)));
}

/** The client has its answer before the log has that the call is completed. */
const howOf = ({ stopped: { signal } }: Running): PerformOptions => ({
  signal,
  completesLater: true,
});

/**
 * Has a call performed; whatever is thrown on the way is told by what it gives.
 *
 * @param perform - Performs it, or gives the question that is open.
 * @returns The server's line, or why there is none.
 */
async function answered<T>(
  call: Running,
  action: ToolAction,
  perform: (send: (release: Release) => Promise<void>) => Promise<RunResult<void> | T>,
): Promise<Buffer | NoticeResult | T> {
  const { parts, job } = call;
  let line: Buffer | undefined;
  try {
    const result = await perform(async (release) => {
      const answer = await forward(call, action, release);
      line = parts.masks.answer(answer, release) ?? errorLine(job.id, unmaskable(job.server));
      const failure = answerFailure(answer);
      // So the gate tells what became of it; the client has the server's own words.
      if (failure !== undefined) throw failure;
    });
    if (!isResult(result)) return result;
    if (!result.ran) return deniedResult(result.verdict);
    call.completed = result.completed;
  } catch (error) {
    // Told by the answer, by `call.failure` and by `call.cancelled`.
    if (
      line === undefined &&
      !(error instanceof ServerFailedError || error instanceof CallCancelledError) &&
      !call.timedOut
    )
      throw error;
  }
  return line ?? givenUp(call);
}

function isResult(result: unknown): result is RunResult<void> {
  return typeof result === "object" && result !== null && "ran" in result;
}

/** An answer that nobody reads, or that {@link run} replaces by the server's failure. */
function givenUp({ job }: Running): NoticeResult {
  return unavailableResult({ server: job.server, reason: "the call was given up" }, false);
}

async function forward(call: Running, action: ToolAction, release: Release): Promise<Buffer> {
  if (isStopped(call)) throw new CallCancelledError("the call was given up");
  const released = release.action;
  if (
    !isToolAction(released) ||
    released.name !== action.name ||
    released.meta.server !== action.meta.server
  ) {
    throw new Error("the released action is another tool's");
  }
  const args =
    released === action || isDeepStrictEqual(released.args, action.args)
      ? undefined
      : released.args;
  const { parts, job } = call;
  const { signal } = call.stopped;
  const refused = await job.before?.(signal);
  if (refused !== undefined && !isStopped(call)) return refused;
  const over = await call.turn?.enter(signal, () => recall(call));
  let line: Buffer;
  try {
    // What became of it may have changed while it waited.
    if (isStopped(call)) throw new CallCancelledError("the call was given up");
    parts.masks.learn(release);
    line = await new Promise<Buffer>((resolve, reject) => {
      call.recall = reject;
      call.phase = "forwarded";
      job.forward(args, resolve);
      call.tellSent();
    });
  } finally {
    over?.();
  }
  return job.judge?.(line, signal) ?? line;
}

/** Its server took too long for it: what it may still say is nobody's. */
function recall(call: Running): void {
  if (call.phase !== "forwarded") return;
  call.timedOut = true;
  call.job.recall?.();
  call.recall(new CallTimedOutError("the server did not answer in time"));
}
