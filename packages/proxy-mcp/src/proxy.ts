/**
 * MCP proxy: connects a client to its servers, with the gate between them for every `tools/call` and
 * whatever else reaches the same effect. What is allowed passes unchanged. `output` carries MCP and nothing else. Format and rules:
 * spec/mcp-proxy.md.
 */
import type { Readable, Writable } from "node:stream";
import { ConsentError, systemClock } from "@acp/core";
import type { Agent, Clock, ConsentGate, Masker } from "@acp/core";
import { createArgumentCheck } from "./argument-check.js";
import { createAside } from "./aside.js";
import { deferred } from "./deferred.js";
import type { HideDenied } from "./hidden-tools.js";
import { createLineSplitter } from "./framing.js";
import type { LineHandlers } from "./framing.js";
import type { RequestRoom } from "./in-flight.js";
import {
  FLUSH_GRACE_MS,
  LINES_AT_ONCE,
  LINE_BYTES_MAX,
  MESSAGE_BYTES_MAX,
  PENDING_AFTER_MS,
  PROGRESS_EVERY_MS,
  SHARED_LINES_AT_ONCE,
  START_TIMEOUT_MS,
} from "./limits.js";
import { createLoopTurns, readInTurns } from "./loop-turns.js";
import type { LoopTurns } from "./loop-turns.js";
import { createMasks } from "./masks.js";
import { idAtEdges, readClientLine } from "./message.js";
import type { RefusedLine } from "./message.js";
import { createOutbox } from "./outbox.js";
import type { Outbox } from "./outbox.js";
import { createLiveRouter } from "./change/live-router.js";
import type { RouterParts } from "./router.js";
import type { ChangedParts } from "./change/change-many.js";
import type { ChangeOutcome, LiveRouter } from "./change/live-router.js";
import { errorLine, INVALID_REQUEST } from "./rpc.js";
import type { ToolPins } from "./pins/tool-pins.js";
import type { CallParts } from "./tool-call.js";
import { within } from "./upstream.js";
import { createWaiting } from "./waiting/waiting.js";
import type { AnswerAddress, Waiting } from "./waiting/waiting.js";
import type { AuthorizationCaller } from "./remote/authorization.js";
import { remoteUpstream } from "./remote/remote-upstream.js";
import type { RemoteUpstream } from "./remote/remote-upstream.js";
import type { LocalUpstream } from "./server-process.js";

/** A server behind the proxy. */
export type UpstreamConfig = LocalUpstream | RemoteUpstream;

/** Options of {@link createMcpProxy}. Rules: spec/mcp-proxy.md. */
export interface McpProxyOptions {
  /**
   * Decides about every call. Create it with `argumentCheck: createArgumentCheck({ log })`: then a
   * person's edits are checked against the tools' schemas as calls are, and refused calls appear in
   * its log. If the gate has no argument check, the proxy checks the calls itself.
   */
  readonly gate: ConsentGate;
  /** Who makes the calls; rules, limits and the log see its id. */
  readonly agent: Agent;
  /** The session that the calls belong to, if there is one. */
  readonly session?: string;
  /**
   * The servers. With one server, names pass unchanged; with several, tools and prompts are called
   * `server__name`.
   */
  readonly upstreams: readonly UpstreamConfig[];
  /** What the client sends. */
  readonly input: Readable;
  /** What the client reads. It is ended when the proxy is done. */
  readonly output: Writable;
  /**
   * Called with one line, without a line break: what servers write to standard error, and what was
   * refused and why.
   */
  readonly log: (line: string) => void;
  /** Closes the proxy. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How often a waiting call reports progress to a client that asked for it, in milliseconds.
   * Default: 10,000.
   */
  readonly progressEveryMs?: number;
  /** When a waiting call is answered "pending, call again", in milliseconds. Default: 45,000. */
  readonly pendingAfterMs?: number;
  /**
   * Gives the https address where a person answers a question after signing in, for clients that can
   * show one to their user; it must hold no secret. Default: there is none, and no address is shown.
   */
  readonly answerAddress?: AnswerAddress;
  /** How long a server may take to answer `initialize`, in milliseconds. Default: 50,000. */
  readonly startTimeoutMs?: number;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /**
   * Creates a masker for secrets that are known from the start, for example with `createMasker` of
   * "@acp/core/vault". Without it, server output is masked from the first call that a gate with a
   * vault releases.
   */
  readonly masker?: () => Masker | undefined;
  /**
   * Remembers the tools and instructions of each server, so that what changed is held back until a
   * person has looked at it. Default: nothing is remembered. Rules: spec/tool-pins.md.
   */
  readonly pins?: ToolPins;
  /**
   * Names of the servers whose annotations, such as `readOnlyHint`, the judges see whole. Of all
   * others they see the hints that warn. Default: none.
   */
  readonly trustedAnnotations?: readonly string[];
  /**
   * Of which servers tools are left out of lists that the gate denies whatever their arguments.
   * Default: none. Rules: spec/mcp-proxy.md.
   */
  readonly hideDenied?: HideDenied;
  /**
   * Room that this proxy shares with others, such as those of one client: what has no place in it
   * is answered with `client_limit_reached`, and nothing of it is judged or logged. Default: none.
   */
  readonly room?: RequestRoom;
  /**
   * Id that the client gave a tool call, for `GateContext.call`; asked once for each call, with the
   * id of its request, as its line is read. Default: none.
   */
  readonly callOf?: (id: string | number) => string | undefined;
}

/** Why a proxy ended. */
export interface ProxyExit {
  /**
   * `client_closed`: the client ended the connection. `upstream_failed`: a server failed. `closed`:
   * by {@link McpProxy.close} or the signal.
   */
  readonly reason: "client_closed" | "upstream_failed" | "closed";
  /** More about the reason, for people. */
  readonly detail: string;
}

/** Servers that take the place of those of now, and what holds for those that are new or changed. */
export interface UpstreamChange extends Pick<McpProxyOptions, "pins" | "trustedAnnotations"> {
  /** All of them, with unique names, in their order. */
  readonly upstreams: readonly UpstreamConfig[];
  /** Names of those that are others than before under the same name. */
  readonly changed: readonly string[];
}

/** A running proxy. */
export interface McpProxy {
  /**
   * Has other servers take the place of those of now, while the client goes on: what is neither new
   * nor changed is left alone. Waits until the client was greeted, and resolves when what had to
   * end has ended. Rules: spec/mcp-proxy.md §22.
   *
   * @returns `later` where it holds only once the client connects again.
   * @throws ConsentError `options_invalid`: nothing is changed.
   */
  change(next: UpstreamChange): Promise<ChangeOutcome>;
  /** Has servers started anew. Resolves when their processes were told to end. */
  restart(names: readonly string[]): Promise<void>;
  /** Resolves when the servers are gone and everything is written. Never rejects. */
  readonly done: Promise<ProxyExit>;
  /** Withdraws open questions and ends the servers. Resolves when that is done. */
  close(): Promise<void>;
}

const linesAtOnce = ({ room }: McpProxyOptions): number =>
  room?.isShared() === true ? SHARED_LINES_AT_ONCE : LINES_AT_ONCE;

/**
 * Starts the servers and serves the client.
 *
 * @throws ConsentError `options_invalid`.
 */
export function createMcpProxy(options: McpProxyOptions): McpProxy {
  const upstreams = checkUpstreams(options.upstreams, options);
  const { input, output, signal } = options;
  const [done, tellDone] = deferred<ProxyExit>();
  const [stopped, tellStopped] = deferred<void>();
  let ending = false;
  /**
   * How many servers read slower than they are sent, and the client itself where too much waits for
   * it.
   */
  let pressed = 0;
  const onPressure = (on: boolean): void => {
    pressed += on ? 1 : -1;
    reading.pause(pressed > 0 || ending);
  };
  const finish = async (exit: ProxyExit): Promise<void> => {
    if (ending) return;
    ending = true;
    reading.free();
    reading.pause(true);
    const left = router.leave();
    parts.waiting.leave();
    // A client that piped its requests and closed still gets what needs no person.
    if (exit.reason === "client_closed") await left;
    await router.close();
    await handOver(outbox, output, stopped);
    tellDone(exit);
  };

  const outbox = createOutbox(output, { onPressure: (on) => router.pause(on), onFull: onPressure });
  const turns = createLoopTurns(() => linesAtOnce(options));
  const parts = callParts(options, turns, (line) => outbox.send(line));
  const router = createLiveRouter({
    ...parts,
    upstreams,
    onPressure,
    ...serverParts(options),
    onFailed: (detail) => void finish({ reason: "upstream_failed", detail }),
  });
  const splitter = createLineSplitter(clientLines({ ...parts, router }));
  const gone = (): void => {
    splitter.end();
    void finish({ reason: "client_closed", detail: "the client closed the connection" });
  };
  // What comes once it is over is nobody's; whoever owns the stream may read on.
  input.on("end", gone);
  input.on("error", gone);
  input.on("close", gone);
  output.on("error", gone);
  // It may have been paused, so that nothing was lost before now.
  const reading = readInTurns(input, turns, (bytes) => ending || splitter.push(bytes));
  const close = async (): Promise<void> => {
    tellStopped();
    void finish({ reason: "closed", detail: "the proxy was closed" });
    await done;
  };
  if (signal?.aborted === true) void close();
  else signal?.addEventListener("abort", () => void close(), { once: true });
  return { done, close, ...changing(router) };
}

function changing(router: LiveRouter): Pick<McpProxy, "change" | "restart"> {
  return {
    change: async ({ upstreams, changed, ...parts }) =>
      router.change({
        upstreams: checkUpstreams(upstreams),
        changed: new Set(changed),
        parts: pinParts(parts),
      }),
    restart: (names) => router.restart(new Set(names)),
  };
}

function serverParts({
  room,
  startTimeoutMs = START_TIMEOUT_MS,
  hideDenied,
  ...options
}: McpProxyOptions): Pick<
  RouterParts,
  "pins" | "room" | "startTimeoutMs" | "trustedAnnotations" | "hideDenied"
> {
  return { room, startTimeoutMs, hideDenied, ...pinParts(options) };
}

function pinParts({
  pins,
  trustedAnnotations,
}: Pick<McpProxyOptions, "pins" | "trustedAnnotations">): Required<ChangedParts> {
  return { pins, trustedAnnotations: new Set(trustedAnnotations) };
}

/** Writes what is left; a client that reads nothing holds up nobody who was told to stop. */
async function handOver(outbox: Outbox, output: Writable, stopped: Promise<void>): Promise<void> {
  const written = outbox.end();
  const isWritten = await Promise.race([
    written.then(() => true),
    stopped.then(() => within(written, FLUSH_GRACE_MS)),
  ]);
  if (!isWritten) output.destroy();
}

function callParts(
  options: McpProxyOptions,
  turns: LoopTurns,
  send: (line: Buffer) => void,
): CallParts & { readonly waiting: Waiting } {
  const {
    gate,
    agent,
    session,
    log,
    clock = systemClock,
    masker,
    progressEveryMs = PROGRESS_EVERY_MS,
    pendingAfterMs = PENDING_AFTER_MS,
    callOf,
    answerAddress,
  } = options;
  const waiting = createWaiting({ clock, answerAddress, send });
  const masks = createMasks(masker);
  const ownCheck = gate.checksArguments ? {} : { argumentCheck: createArgumentCheck({ log }) };
  return {
    gate,
    agent,
    ...(session === undefined ? {} : { session }),
    ...ownCheck,
    aside: createAside(),
    turns,
    clock,
    masks,
    progressEveryMs,
    pendingAfterMs,
    ...(callOf !== undefined && { callOf }),
    waiting,
    log,
    send: (line) => send(waiting.hears(line)),
  };
}

interface ClientParts {
  readonly router: Pick<LiveRouter, "take">;
  readonly waiting: Waiting;
}

/** What becomes of the client's lines. */
function clientLines({
  router,
  waiting,
  log,
  send,
}: Pick<CallParts, "log" | "send"> & ClientParts): LineHandlers {
  const refuse = ({ id, code, reason }: Omit<RefusedLine, "kind">): void => {
    log(reason);
    send(errorLine(id, { code, message: reason }));
  };
  return {
    onLine(line): void {
      const message = readClientLine(line);
      if (message === undefined) return;
      if (message.kind === "refused") return refuse(message);
      const own = waiting.take(message);
      if (own !== undefined) router.take(own);
    },
    onOversize: (line) =>
      refuse({
        id: idAtEdges(line),
        code: INVALID_REQUEST,
        reason: `Cannot accept the message: it has more than ${LINE_BYTES_MAX} bytes`,
      }),
  };
}

/**
 * The servers, checked before the first of them starts.
 *
 * @param caller - Whose calls they get.
 * @throws ConsentError `options_invalid`.
 */
export function checkUpstreams(
  configs: readonly UpstreamConfig[],
  caller?: AuthorizationCaller,
): readonly LocalUpstream[] {
  const names = new Set<string>();
  if (configs.length === 0) throw invalid("start the proxy: it has no server");
  return configs.map((config) => {
    const { name } = config;
    if (!NAME.test(name) || name.includes("__"))
      throw invalid(
        `use the server name ${JSON.stringify(name)}: it must be letters, digits and single "-" or "_" between them`,
      );
    if (names.has(name)) throw invalid(`use the server name "${name}": two servers have it`);
    names.add(name);
    checkLimits(config);
    if ("start" in config) return config;
    if ("url" in config) return remoteUpstream(config, caller);
    if (config.command.length === 0 || config.command[0] === "")
      throw invalid(`use the server "${name}": its command is empty`);
    return config;
  });
}

/** A limit that is none would let everything pass, or nothing. */
function checkLimits({ name, limits = {} }: UpstreamConfig): void {
  const bounds = {
    messageBytesMax: MESSAGE_BYTES_MAX,
    callTimeoutMs: Number.MAX_SAFE_INTEGER,
    callsMax: Number.MAX_SAFE_INTEGER,
    startTimeoutMs: Number.MAX_SAFE_INTEGER,
  };
  for (const [key, max] of Object.entries(bounds)) {
    const value: unknown = Reflect.get(limits, key);
    const isNone = !Number.isSafeInteger(value) || Number(value) < 1 || Number(value) > max;
    if (value !== undefined && isNone)
      throw invalid(`use the server "${name}": its limit "${key}" must be from 1 to ${max}`);
  }
}

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?$/;

function invalid(what: string): ConsentError {
  return new ConsentError("options_invalid", `Cannot ${what}`);
}
