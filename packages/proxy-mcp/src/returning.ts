/**
 * Returning server: one whose process is replaced after it died, with a pause that grows, and that
 * hears again what its client told it once. Requests are never sent again: who waited for an answer
 * is told that there is none. Rules: spec/mcp-proxy.md §13.
 */
import type { ServerFailure } from "./failure.js";
import type { OversizeLine } from "./framing.js";
import { createKeptSession, greetingResult } from "./kept-session.js";
import type { KeptMessage, KeptSession, SubscribeRules } from "./kept-session.js";
import { BACK_OFF_MS, BACK_OFF_MS_MAX, RETRY_MS_MIN, STOOD_MS } from "./limits.js";
import { readServerLine } from "./message.js";
import type { RpcId } from "./rpc.js";
import type { LocalUpstream } from "./server-process.js";
import { startUpstream } from "./upstream.js";
import type { Upstream, UpstreamHandlers } from "./upstream.js";

/** What a returning server reports. */
export interface ReturningHandlers extends Omit<UpstreamHandlers, "onEnd">, SubscribeRules {
  /** How long a process may take to answer `initialize` when it is told it again. */
  readonly startTimeoutMs: number;
  /** Whether it has answered anything of a client that sends no `initialize`. */
  readonly hasAnswered: () => boolean;
  /** It is gone; `retryAfterMs` is set where it comes back. Nobody answers what it was asked. */
  readonly onDown: (failure: ServerFailure) => void;
  /** @param result - Of its own `initialize`; `undefined` where its client sends none. */
  readonly onUp: (result: Readonly<Record<string, unknown>> | undefined) => void;
}

/** A server that comes back. */
export interface Returning extends Upstream {
  /** Why it cannot be asked now; `undefined` while it can. */
  failure(): ServerFailure | undefined;
  /** Takes note of what is sent, for the process that follows. */
  keep(message: KeptMessage): void;
  /** Tells it what the client told before it was there. */
  catchUp(): void;
  /** Ends the process as if it had died. @param isForGood - Whether none follows. */
  giveUp(reason: string, isForGood?: boolean): void;
  /** Ends the process and starts another at once, which is to be greeted anew. */
  renew(): Promise<void>;
  /**
   * Ends the process, or the pause before the next one, and starts another, which hears what the
   * client told: after half a second, whatever became of those before.
   */
  replace(reason: string): void;
  /** What its client told it. */
  session(): KeptSession;
}

interface State {
  readonly config: LocalUpstream;
  readonly handlers: ReturningHandlers;
  readonly kept: KeptSession;
  /** The process; it is heard while it is this one. */
  upstream: Upstream;
  isHeard: boolean;
  isUp: boolean;
  /** While an earlier client's words are repeated: takes the answer, or `undefined` at its end. */
  replay: { readonly id: RpcId; readonly settle: (line: Buffer | undefined) => void } | undefined;
  /** Requests of our own, whose answers are nobody's. */
  readonly own: Set<RpcId>;
  failure: ServerFailure | undefined;
  isForGood: boolean;
  isPaused: boolean;
  backOffMs: number;
  /** On the monotonic clock. */
  retryAtMs: number;
  upAtMs: number;
  /** Ends the wait for a process that follows. */
  over: AbortController;
  /** Ends a pause before a process. */
  wake: AbortController;
}

/**
 * Starts it.
 *
 * @param kept - What another one was told in whose place it stands: it hears that first, as if it
 *   had died before.
 */
export function startReturning(
  config: LocalUpstream,
  handlers: ReturningHandlers,
  kept?: KeptSession,
): Returning {
  const { clock } = handlers;
  const state: State = {
    config,
    handlers,
    kept: kept ?? createKeptSession(handlers),
    upstream: NOBODY,
    isHeard: false,
    isUp: true,
    replay: undefined,
    own: new Set(),
    failure: undefined,
    isForGood: false,
    isPaused: false,
    backOffMs: BACK_OFF_MS,
    retryAtMs: 0,
    upAtMs: clock.monotonic(),
    over: new AbortController(),
    wake: new AbortController(),
  };
  if (kept === undefined) start(state);
  else takePlace(state);
  return {
    name: config.name,
    send(line) {
      // While it is greeted anew, it gets answers at most.
      if (state.isUp || (state.isHeard && readServerLine(line).kind === "response"))
        state.upstream.send(line);
    },
    pause(on) {
      state.isPaused = on;
      state.upstream.pause(on);
    },
    failure: () => (state.failure === undefined ? undefined : withRetry(state, state.failure)),
    keep: (message) => state.kept.keep(message),
    catchUp: () => void (state.isUp && catchUp(state)),
    giveUp(reason, isForGood = false) {
      void state.upstream.close();
      lost(state, { server: config.name, reason }, isForGood);
    },
    renew: () => renew(state),
    replace: (reason) => replace(state, reason),
    session: () => state.kept,
    async close() {
      state.over.abort(new Error("the server is no longer needed"));
      await state.upstream.close();
      state.replay?.settle(undefined);
    },
  };
}

/** Before the first process is there. */
const NOBODY: Upstream = {
  name: "",
  send: () => {},
  pause: () => {},
  close: () => Promise.resolve(),
};

function start(state: State): void {
  const { config, handlers } = state;
  const isCurrent = (): boolean => state.upstream === started && state.isHeard;
  state.isHeard = true;
  const started = startUpstream(config, {
    ...handlers,
    awaits: (id) => state.replay?.id === id || state.own.has(id) || handlers.awaits(id),
    onLine: (line) => (isCurrent() ? hear(state, line) : undefined),
    onOversize: (line) => (isCurrent() ? tooLong(state, line) : undefined),
    onEnd: (failure) => (isCurrent() ? lost(state, failure) : undefined),
  });
  state.upstream = started;
  started.pause(state.isPaused);
}

/** Stands in the place of one that was told something already. */
function takePlace(state: State): void {
  const { name } = state.config;
  state.isUp = false;
  state.failure = { server: name, reason: `Server "${name}" is being started` };
  void comeBack(state);
}

/** There are never two: the one of before is gone first. */
async function renew(state: State): Promise<void> {
  state.over.abort(new Error("another process was started"));
  const over = new AbortController();
  state.over = over;
  state.isHeard = false;
  state.kept.forgetGreeting();
  state.own.clear();
  await state.upstream.close();
  // Nobody needs it any more, or somebody else started one.
  if (over.signal.aborted) return;
  state.failure = undefined;
  state.isForGood = false;
  state.isUp = true;
  start(state);
}

/** It is started at once, even where it was to stay away. */
function replace(state: State, reason: string): void {
  const { over, config } = state;
  if (over.signal.aborted) return;
  state.backOffMs = BACK_OFF_MS;
  if (state.isUp) {
    void state.upstream.close();
    return lost(state, { server: config.name, reason });
  }
  if (!state.isForGood) return state.wake.abort(new Error("it is started now"));
  state.isForGood = false;
  state.retryAtMs = state.handlers.clock.monotonic() + state.backOffMs;
  void comeBack(state);
}

function hear(state: State, line: Buffer): void {
  const { kept, own, replay, handlers } = state;
  if (replay !== undefined || own.size > 0) {
    const { kind, id } = readServerLine(line);
    if (kind === "response" && id !== undefined) {
      if (replay?.id === id) return replay.settle(line);
      if (own.delete(id)) return undefined;
    }
  }
  if (!state.isUp) {
    // Whoever answered to nothing yet may say something, but answers nobody.
    if (readServerLine(line).kind !== "response") handlers.onLine(line);
    return undefined;
  }
  const greeting = kept.greeting();
  if (greeting !== undefined && greeting.version === undefined) kept.learn(line);
  return handlers.onLine(line);
}

function tooLong(state: State, line: OversizeLine): void {
  if (state.isUp) state.handlers.onOversize(line);
  else state.replay?.settle(undefined);
}

/** The process is gone. */
function lost(state: State, failure: ServerFailure, isForGood = false): void {
  const { handlers, kept, over } = state;
  if (over.signal.aborted || !state.isHeard) return;
  state.isHeard = false;
  state.own.clear();
  const { replay } = state;
  if (replay !== undefined) {
    state.failure = failure;
    if (isForGood) state.isForGood = true;
    return replay.settle(undefined);
  }
  const greeting = kept.greeting();
  const isKnown = greeting === undefined ? handlers.hasAnswered() : greeting.version !== undefined;
  const now = handlers.clock.monotonic();
  state.isUp = false;
  state.failure = failure;
  state.isForGood = isForGood || !isKnown;
  if (now - state.upAtMs >= STOOD_MS) state.backOffMs = BACK_OFF_MS;
  state.retryAtMs = now + state.backOffMs;
  handlers.log(failure.reason);
  if (!state.isForGood) void comeBack(state);
  handlers.onDown(withRetry(state, failure));
}

function withRetry(state: State, failure: ServerFailure): ServerFailure {
  if (state.isForGood) return failure;
  const leftMs = state.retryAtMs - state.handlers.clock.monotonic();
  return { ...failure, retryAfterMs: Math.max(RETRY_MS_MIN, Math.ceil(leftMs)) };
}

/** One try after another, each after a longer pause; ends with the client. */
async function comeBack(state: State): Promise<void> {
  const { over, handlers } = state;
  const { clock, log } = handlers;
  try {
    while (!over.signal.aborted && !state.isForGood) {
      // Never two at once, and nothing that the old one started.
      await Promise.all([state.upstream.close(), pause(state)]);
      state.backOffMs = Math.min(state.backOffMs * 2, BACK_OFF_MS_MAX);
      if (over.signal.aborted || (await isBack(state)) || over.signal.aborted) return;
      state.retryAtMs = clock.monotonic() + state.backOffMs;
      if (state.failure !== undefined && !state.isForGood)
        log(`${state.failure.reason}; it is started again in ${state.backOffMs} ms`);
    }
  } catch {
    // The client is gone.
  }
  if (over.signal.aborted || state.failure === undefined) return;
  handlers.onDown(state.failure);
}

/** @throws Where nobody needs it any more. */
async function pause(state: State): Promise<void> {
  const { clock } = state.handlers;
  const { over, backOffMs } = state;
  state.wake = new AbortController();
  const signal = AbortSignal.any([over.signal, state.wake.signal]);
  await clock
    .sleep(backOffMs, { signal, background: true })
    .catch(() => over.signal.throwIfAborted());
}

/** Starts a process, and tells it what its client told the one before. */
async function isBack(state: State): Promise<boolean> {
  const { config, kept, over } = state;
  const greeting = kept.greeting();
  start(state);
  if (greeting === undefined) {
    up(state, undefined);
    return true;
  }
  const line = await answerTo(state, greeting);
  // Another process was started meanwhile, and what is known is about that one.
  if (over.signal.aborted) return false;
  const answer = line === undefined ? undefined : greetingResult(line);
  if (answer === undefined || answer.version !== greeting.version) {
    if (line !== undefined || state.isHeard) {
      state.isHeard = false;
      state.isForGood = answer !== undefined;
      state.failure = { server: config.name, reason: whyNotBack(config.name, answer, greeting) };
    }
    return false;
  }
  // A level or a subscription that it refuses is nobody's to hear of.
  state.isUp = true;
  catchUp(state);
  up(state, answer.result);
  return true;
}

function up(state: State, result: Readonly<Record<string, unknown>> | undefined): void {
  const { config, handlers } = state;
  state.isUp = true;
  state.failure = undefined;
  state.upAtMs = handlers.clock.monotonic();
  handlers.log(`Server "${config.name}" is back`);
  handlers.onUp(result);
}

/** `undefined` where it ended, or took too long. */
async function answerTo(
  state: State,
  { id, line }: { readonly id: RpcId; readonly line: Buffer },
): Promise<Buffer | undefined> {
  const { handlers, over, upstream } = state;
  const late = new AbortController();
  const stop = AbortSignal.any([late.signal, over.signal]);
  const answer = new Promise<Buffer | undefined>((settle) => {
    state.replay = { id, settle };
  });
  upstream.send(line);
  const tooLate = handlers.clock
    .sleep(handlers.startTimeoutMs, { signal: stop, background: true })
    .then(
      () => undefined,
      () => undefined,
    );
  try {
    return await Promise.race([answer, tooLate]);
  } finally {
    state.replay = undefined;
    late.abort(new Error("the answer came"));
  }
}

function whyNotBack(
  name: string,
  answer: { readonly version: string } | undefined,
  { version }: { readonly version: string | undefined },
): string {
  return answer === undefined
    ? `Server "${name}" did not answer "initialize" when it was started again`
    : `Server "${name}" came back with protocol version ${JSON.stringify(answer.version)}, and its client speaks ${JSON.stringify(version)}`;
}

/** That the client is initialized, its level of log messages, its subscriptions. */
function catchUp({ kept, own, upstream }: State): void {
  const initialized = kept.initialized();
  if (initialized === undefined) return;
  upstream.send(initialized);
  for (const { id, line } of kept.requests()) {
    own.add(id);
    upstream.send(line);
  }
}
