/**
 * Shared server: one process of a server for several clients, each of which sees a server of its own.
 * The process starts with the first client and ends a while after the last. What it knows of its
 * clients: spec/mcp-proxy.md §21.
 */
import { PassThrough, Writable } from "node:stream";
import { systemClock } from "@acp/core";
import type { Clock, Masker, Release } from "@acp/core";
import { beingReplaced, drain } from "../change/drain.js";
import { deferred } from "../deferred.js";
import type { ServerFailure } from "../failure.js";
import { createLineSplitter } from "../framing.js";
import {
  DRAIN_CALLS_MS,
  SHARED_CALLS_MAX,
  SHARED_IDLE_MS,
  START_TIMEOUT_MS,
  UNREAD_BYTES_MAX,
} from "../limits.js";
import { createMasks } from "../masks.js";
import type { Masks } from "../masks.js";
import { isRecord, readClientLine, readServerLine } from "../message.js";
import type { ClientRequest } from "../message.js";
import {
  errorLine,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  notificationLine,
  requestLine,
} from "../rpc.js";
import { resultLine } from "../rpc.js";
import type { CommandUpstream, ServerExit, ServerProcess } from "../server-process.js";
import { startUpstream } from "../upstream.js";
import type { Upstream, UpstreamHandlers } from "../upstream.js";
import { createMultiplexer } from "./multiplexer.js";
import type { MultiplexedClient, Multiplexer } from "./multiplexer.js";
import { greetingOf, isVersion } from "./shared-greeting.js";
import type { Greeting } from "./shared-greeting.js";
import { startHeard } from "./start-heard.js";

/** Options of {@link createSharedServer}. */
export interface SharedServerOptions {
  /** What the server is told of its client, which is we: neither the name of an agent nor what it can do. */
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** Called with one line: what the server writes to stderr, and its log messages. */
  readonly log: (line: string) => void;
  /** Of the secrets that lines for the log and for clients must not hold, until more are learnt. */
  readonly masker?: () => Masker | undefined;
  /** Default: the system's clock. */
  readonly clock?: Clock;
}

/** A server that several clients share. */
export interface SharedServer {
  /** A client's own view of it; it ends with the client, and the process lives on. */
  connect(): ServerProcess;
  /** From now on these secrets are masked, in what its next processes say, too. */
  learn(release: Pick<Release, "masker">): void;
  /** Has the next client start another process, once those of this one have left it. */
  renew(): void;
  /** Whether there is a process. */
  isRunning(): boolean;
  /** Ends the process. */
  close(): Promise<void>;
}

interface Instance {
  readonly upstream: Upstream;
  readonly multiplexer: Multiplexer;
  readonly greeting: Promise<Greeting>;
  readonly clients: Set<Client>;
  /** No further client gets it. */
  isOld: boolean;
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
  end(why: ServerFailure | undefined): void;
  /** Ends the wait for another client. */
  idle: AbortController;
  /** Aborts when it ends. */
  readonly over: AbortController;
}

interface State {
  readonly config: CommandUpstream;
  readonly options: SharedServerOptions;
  readonly startProcess: StartShared;
  readonly clock: Clock;
  /** Of all its clients: what one of them was released, the server can say at any time. */
  readonly masks: Masks;
  current: Instance | undefined;
  /** What the clients of before were greeted in, while they may come back. */
  version: unknown;
  /** Starts are one after another. */
  starting: Promise<unknown>;
  isClosed: boolean;
}

interface Client {
  readonly stdout: PassThrough;
  readonly over: AbortController;
  instance: Instance | undefined;
  side: MultiplexedClient | undefined;
  isGreeting: boolean;
  /** Tells that it is over, once. */
  end(exit: ServerExit): void;
}

/** Starts the process of a shared server. */
export type StartShared = (handlers: UpstreamHandlers) => Upstream;

/** A server whose process is a child of ours. Nothing is started yet. */
export function createSharedServer(
  config: CommandUpstream,
  options: SharedServerOptions,
): SharedServer {
  return shareServer(config, options, (handlers) => startUpstream(config, handlers));
}

/** A server that `startProcess` starts. Nothing is started yet. */
export function shareServer(
  config: CommandUpstream,
  options: SharedServerOptions,
  startProcess: StartShared,
): SharedServer {
  const { clock = systemClock } = options;
  const state: State = {
    config,
    options,
    startProcess,
    clock,
    masks: createMasks(options.masker),
    current: undefined,
    version: undefined,
    starting: Promise.resolve(),
    isClosed: false,
  };
  return {
    connect: () => connect(state),
    learn: (release) => state.masks.learn(release),
    renew() {
      if (state.current !== undefined) renew(state, state.current);
    },
    isRunning: () => state.current !== undefined,
    async close() {
      state.isClosed = true;
      await state.starting.catch(() => undefined);
      const { current } = state;
      current?.end({ server: config.name, reason: `Server "${config.name}" was stopped` });
      await current?.gone;
    },
  };
}

/** Each client leaves it once its own calls are over; one that does not has to. */
function renew({ clock, config }: State, instance: Instance): void {
  instance.isOld = true;
  if (instance.clients.size === 0) return instance.end(undefined);
  const { reason } = beingReplaced(config.name);
  void clock
    .sleep(2 * DRAIN_CALLS_MS, { background: true, signal: instance.over.signal })
    .then(() => instance.end({ server: config.name, reason }))
    .catch(() => undefined);
}

/**
 * The process for a client that begins. It is greeted in the version of the first one; one that
 * follows, as the one before was, or those clients could not come back to it.
 */
function instanceFor(state: State, version: unknown): Promise<Instance> {
  const next = state.starting.then(async () => {
    const { current } = state;
    if (current !== undefined && !current.isOld) return current;
    // Never two at once.
    await current?.gone;
    if (state.isClosed) throw new Error(`Server "${state.config.name}" was stopped`);
    state.current = startInstance(state, state.version ?? version);
    return state.current;
  });
  state.starting = next.catch(() => undefined);
  return next;
}

const GREETING_ID = "acp-shared-initialize";

function startInstance(state: State, version: unknown): Instance {
  const { config, options } = state;
  const [greeting, settle] = deferred<Greeting>();
  const [gone, tellGone] = deferred<void>();
  let isOver = false;
  const end = (why: ServerFailure | undefined): void => {
    if (isOver) return;
    isOver = true;
    const { reason } = why ?? { reason: `Server "${config.name}" was stopped` };
    settle({
      error: { code: INTERNAL_ERROR, message: reason, data: { code: "server_unavailable" } },
    });
    multiplexer.fail(why ?? { server: config.name, reason });
    instance.isOld = true;
    instance.over.abort(new Error(reason));
    for (const client of instance.clients) client.end(exitFor(reason));
    void upstream.close().then(() => {
      if (state.current === instance) state.current = undefined;
      tellGone();
    });
  };
  const hear = (line: Buffer): void =>
    readServerLine(line).id === GREETING_ID
      ? settle(greetingOf(config.name, line))
      : multiplexer.fromServer(line);
  const upstream = startHeard(state, {
    hear,
    end,
    awaits: (id) => id === GREETING_ID || multiplexer.awaits(id),
    onPressure: (on) => multiplexer.pause(on),
  });
  const multiplexer = createMultiplexer({
    name: config.name,
    send: (line) => upstream.send(line),
    log: options.log,
    callsMax: config.limits?.callsMax ?? SHARED_CALLS_MAX,
  });
  const [idle, over] = [new AbortController(), new AbortController()];
  const instance: Instance = {
    upstream,
    multiplexer,
    greeting,
    clients: new Set(),
    isOld: false,
    gone,
    end,
    idle,
    over,
  };
  greetServer(state, instance, version);
  void greetedInTime(state, instance);
  rest(state, instance);
  return instance;
}

/** As our own client; whoever waits for the greeting after this comes after it. */
function greetServer(state: State, { upstream, greeting, end }: Instance, version: unknown): void {
  const { clientInfo } = state.options;
  const params = { protocolVersion: version, capabilities: {}, clientInfo };
  upstream.send(requestLine(GREETING_ID, "initialize", params));
  void greeting.then((greeted) => {
    // It may answer better another time.
    if ("error" in greeted) end({ server: upstream.name, reason: greeted.error.message });
    else {
      state.version = greeted.result["protocolVersion"];
      upstream.send(notificationLine("notifications/initialized", undefined));
    }
  });
}

async function greetedInTime({ clock, config }: State, { greeting, end }: Instance): Promise<void> {
  const ms = config.limits?.startTimeoutMs ?? START_TIMEOUT_MS;
  const over = new AbortController();
  void greeting.then(() => over.abort(new Error("it answered")));
  try {
    await clock.sleep(ms, { signal: over.signal, background: true });
    end({
      server: config.name,
      reason: `Server "${config.name}" did not answer "initialize" within ${ms} ms`,
    });
  } catch {
    // It answered.
  }
}

function connect(state: State): ServerProcess {
  const stdout = new PassThrough({ highWaterMark: UNREAD_BYTES_MAX });
  const stderr = new PassThrough();
  stderr.end();
  let tell: (exit: ServerExit) => void = () => {};
  const exited = new Promise<ServerExit>((resolve) => (tell = resolve));
  const client: Client = {
    stdout,
    over: new AbortController(),
    instance: undefined,
    side: undefined,
    isGreeting: false,
    end(exit) {
      if (client.over.signal.aborted) return;
      client.over.abort(new Error("the client is gone"));
      leave(state, client);
      stdout.end();
      tell(exit);
    },
  };
  const splitter = createLineSplitter({
    onLine: (line) => take(state, client, line),
    onOversize: () => client.end(exitFor("its client sent a line that is too long")),
  });
  const stdin = new Writable({
    write(chunk: Buffer, _encoding, done) {
      splitter.push(chunk);
      done();
    },
    final(done) {
      splitter.end();
      // What it has under way is still answered, for as long as its client waits.
      void drain(state.clock, () => client.side?.isBusy() === true, client.over.signal).then(() =>
        client.end({ code: 0, signal: undefined }),
      );
      done();
    },
  });
  const stop = (): void => client.end({ code: undefined, signal: "SIGTERM" });
  const learn: ServerProcess["learn"] = (release) => state.masks.learn(release);
  return { stdin, stdout, stderr, exited, learn, stop, kill: stop };
}

const exitFor = (reason: string): ServerExit => ({ code: undefined, signal: undefined, reason });

function deliver(client: Client, line: Buffer): void {
  if (client.over.signal.aborted) return;
  client.stdout.write(line);
  // Others are not kept waiting for one that does not read, and memory is not given to it either.
  if (client.stdout.writableLength + client.stdout.readableLength > UNREAD_BYTES_MAX)
    client.end(exitFor("its client reads too slowly"));
}

function take(state: State, client: Client, line: Buffer): void {
  const message = readClientLine(line);
  if (message === undefined || client.over.signal.aborted) return undefined;
  if (message.kind === "notification") return client.side?.notify(message);
  if (message.kind !== "request") return undefined;
  if (message.method === "initialize" && !client.isGreeting) {
    client.isGreeting = true;
    return void greet(state, client, message);
  }
  if (client.side !== undefined) return client.side.take({ ...message, line: Buffer.from(line) });
  const why = `Cannot serve "${message.method}": the connection is not initialized`;
  return deliver(client, errorLine(message.id, { code: INVALID_REQUEST, message: why }));
}

async function greet(state: State, client: Client, { id, params }: ClientRequest): Promise<void> {
  const version = isRecord(params) ? params["protocolVersion"] : undefined;
  if (!isVersion(version)) {
    client.isGreeting = false;
    const message = 'Cannot initialize: "protocolVersion" is no date, such as 2025-11-25';
    return deliver(client, errorLine(id, { code: INVALID_PARAMS, message }));
  }
  let instance: Instance;
  try {
    instance = await instanceFor(state, version);
  } catch (error) {
    return client.end(exitFor(error instanceof Error ? error.message : "it cannot be started"));
  }
  if (client.over.signal.aborted) return undefined;
  client.instance = instance;
  instance.clients.add(client);
  instance.idle.abort(new Error("a client came"));
  const greeting = await instance.greeting;
  if (client.over.signal.aborted) return undefined;
  if ("error" in greeting) return deliver(client, errorLine(id, greeting.error));
  client.side = instance.multiplexer.join((line) => deliver(client, line));
  return deliver(client, resultLine(id, greeting.result));
}

function leave(state: State, client: Client): void {
  const { instance } = client;
  client.side?.leave();
  if (instance === undefined || !instance.clients.delete(client) || instance.clients.size > 0)
    return;
  if (instance.isOld) return instance.end(undefined);
  rest(state, instance);
}

/** Without a client it ends after a while. */
function rest(state: State, instance: Instance): void {
  instance.idle = new AbortController();
  state.clock
    .sleep(SHARED_IDLE_MS, { signal: instance.idle.signal, background: true })
    .then(() => {
      if (instance.clients.size > 0) return;
      state.version = undefined;
      instance.end(undefined);
    })
    .catch(() => undefined);
}
