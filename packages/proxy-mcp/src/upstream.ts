/**
 * Upstream: one server that speaks MCP on stdin and stdout. Its stderr goes to the log, line by
 * line.
 */
import { PassThrough } from "node:stream";
import type { Readable } from "node:stream";
import type { Clock } from "@acp/core";
import type { ServerFailure } from "./failure.js";
import { createLineSplitter, edgesOf } from "./framing.js";
import type { OversizeLine } from "./framing.js";
import {
  DRAIN_MS,
  DRAIN_TIMES_MAX,
  EXIT_GRACE_MS,
  KILL_GRACE_MS,
  LINE_BYTES_MAX,
} from "./limits.js";
import { logStderr } from "./log-stderr.js";
import { readInTurns } from "./loop-turns.js";
import type { LoopTurns, Reading } from "./loop-turns.js";
import { logText } from "./log-text.js";
import { unmaskable } from "./masks.js";
import type { Known, Masks } from "./masks.js";
import { readServerLine } from "./message.js";
import { createOutbox } from "./outbox.js";
import { errorLine } from "./rpc.js";
import type { RpcId } from "./rpc.js";
import { startCommand } from "./server-process.js";
import type {
  LocalUpstream,
  ServerExit,
  ServerProcess,
  StartedUpstream,
  StartingServer,
  UpstreamLimits,
} from "./server-process.js";

/** What a server reports, and how it is heard. */
export interface UpstreamHandlers {
  readonly clock: Clock;
  readonly masks: Masks;
  /** In which its lines are read. */
  readonly turns: LoopTurns;
  /** Whether a request with this id waits for its answer. */
  readonly awaits: (id: RpcId) => boolean;
  /** A line without any secret that `masks` know. */
  readonly onLine: (line: Buffer) => void;
  readonly onOversize: (line: OversizeLine) => void;
  /**
   * Once: the server is gone, and nothing more comes from it. Not called after {@link
   * Upstream.close}.
   */
  readonly onEnd: (failure: ServerFailure) => void;
  /** `true` while the server reads slower than it is sent. */
  readonly onPressure: (on: boolean) => void;
  readonly log: (line: string) => void;
}

/** A running server. */
export interface Upstream {
  readonly name: string;
  /** Sends a line; nothing happens once the server is gone. */
  send(line: Buffer): void;
  /** Stops or resumes reading what the server says. */
  pause(on: boolean): void;
  /**
   * Ends its input, then SIGTERM, then SIGKILL; resolves when it is gone. What it still says is
   * still reported. Of one that is gone it ends what that left behind.
   */
  close(): Promise<void>;
}

/** Starts a server. What it is sent meanwhile waits, in order. */
export function startUpstream(config: LocalUpstream, handlers: UpstreamHandlers): Upstream {
  const { name } = config;
  const starting = "start" in config ? startGiven(config) : startCommand(config);
  const outbox = createOutbox(starting.stdin, { onPressure: handlers.onPressure });
  let closing = false;
  let over = false;
  let running: ServerProcess | undefined;
  let reading: Reading | undefined;
  let isPaused = false;
  let tellGone: () => void = () => {};
  const gone = new Promise<void>((resolve) => {
    tellGone = resolve;
  });
  const hear = maskedHearing(config, handlers, (line) => outbox.send(line));
  const teaching = teach(handlers.masks);
  const onEnd = (failure: ServerFailure): void => {
    if (over) return;
    over = true;
    teaching[Symbol.dispose]();
    // What it did not take presses nobody any more.
    starting.stdin.destroy();
    tellGone();
    if (!closing) handlers.onEnd(failure);
  };
  const ready = starting.process.then(
    (server) => {
      running = server;
      const onLine = (line: Buffer): void => void (over || hear(line));
      reading = listen(server, config, { ...handlers, onLine, onEnd });
      reading.pause(isPaused);
      teaching.begin(server);
    },
    (error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      onEnd({ server: name, reason: `Cannot start server "${name}": ${logText(why)}` });
    },
  );
  return {
    name,
    send: (line) => outbox.send(line),
    pause(on) {
      isPaused = on;
      reading?.pause(on);
    },
    async close(): Promise<void> {
      closing = true;
      if (over) return reap(running);
      void outbox.end();
      // What it was sent before it ran is still its to answer.
      await ready;
      if (await within(gone, EXIT_GRACE_MS)) return;
      running?.stop();
      if (await within(gone, KILL_GRACE_MS)) return;
      running?.kill();
      await gone;
    },
  };
}

interface Teaching extends Disposable {
  /** It runs. */
  begin(server: ServerProcess): void;
}

/** What is released from now on a server is told, also while it is being started. */
function teach(masks: Masks): Teaching {
  let running: ServerProcess | undefined;
  // What was released before it is not told: others may have told it of later releases.
  let learnt: Known | undefined;
  const following = masks.follow((release) => {
    if (running === undefined) learnt = release;
    else running.learn?.(release);
  });
  return {
    begin(server) {
      running = server;
      if (learnt !== undefined) server.learn?.(learnt);
    },
    [Symbol.dispose]: () => following[Symbol.dispose](),
  };
}

/** It closed its output, or something that it started lives on: nothing of it is waited for. */
async function reap(server: ServerProcess | undefined): Promise<void> {
  if (server === undefined) return;
  const exited = server.exited.then(() => undefined);
  server.stop();
  await within(exited, KILL_GRACE_MS);
  server.kill();
  await exited;
}

/** What the server is sent passes on as soon as there is one. */
function startGiven({ start }: StartedUpstream): StartingServer {
  const stdin = new PassThrough();
  const process = (async () => {
    const server = await start().catch((error: unknown) => {
      stdin.destroy(); // what waits there presses nobody any more
      throw error;
    });
    server.stdin.on("error", () => stdin.destroy());
    server.stdin.on("close", () => stdin.destroy());
    stdin.pipe(server.stdin);
    return server;
  })();
  return { stdin, process };
}

/** Hears a server's lines masked. What cannot be masked is not heard; who waits for it is told. */
function maskedHearing(
  { name, limits }: LocalUpstream,
  handlers: UpstreamHandlers,
  reply: (line: Buffer) => void,
): (line: Buffer) => void {
  const { masks, awaits, onLine, onOversize, log } = handlers;
  const bytesMax = messageBytesMax(limits);
  const isAwaited = (line: Buffer): boolean => {
    const { kind, id } = readServerLine(line);
    return kind === "response" && id !== undefined && awaits(id);
  };
  return (line) => {
    const masked = masks.line(line, () => isAwaited(line));
    // A label may be longer than its value.
    if (masked !== undefined)
      return masked.length > bytesMax && masked !== line
        ? onOversize(edgesOf(masked))
        : onLine(masked);
    log(`[${name}] sent a message that holds a secret across several values; it is dropped`);
    const { kind, id } = readServerLine(line);
    if (id === undefined) return undefined;
    const error = errorLine(id, unmaskable(name));
    if (kind === "request") reply(error);
    else if (awaits(id)) onLine(error);
    return undefined;
  };
}

/** Bytes of one message. */
export function messageBytesMax({ messageBytesMax: own }: UpstreamLimits = {}): number {
  return own ?? LINE_BYTES_MAX;
}

/** Reports what a server says, and its end, perhaps more than once. */
function listen(
  server: ServerProcess,
  { name, limits }: LocalUpstream,
  handlers: UpstreamHandlers,
): Reading {
  const { stdout, stderr } = server;
  const end = (reason: string): void => handlers.onEnd({ server: name, reason });
  const splitter = createLineSplitter(handlers, messageBytesMax(limits));
  let isGone = false;
  const reading = readInTurns(stdout, handlers.turns, (bytes) => splitter.push(bytes));
  stdout.on("end", () => {
    splitter.end();
    // Whoever says nothing more is as good as gone, also while the process lives on.
    setTimeout(() => {
      if (!isGone) server.stop();
      end(`Server "${name}" closed its output`);
    }, DRAIN_MS).unref();
  });
  stdout.on("error", () => {});
  const silent = Promise.all([closed(stdout), closed(stderr)]);
  logStderr(stderr, name, handlers);
  void server.exited.then((exit) => {
    isGone = true;
    const reason = `Server "${name}" ${howEnded(exit)}`;
    void silent.then(() => end(reason));
    drain(() => end(reason));
  });
  /** A child of the server may keep its stdout open for ever; what was said waits for its turn. */
  function drain(then: () => void, times = 1): void {
    const isLast = (): boolean => times >= DRAIN_TIMES_MAX || !reading.isResting();
    setTimeout(() => (isLast() ? then() : drain(then, times + 1)), DRAIN_MS).unref();
  }
  return reading;
}

function howEnded({ code, signal, reason }: ServerExit): string {
  if (reason !== undefined) return `is lost: ${reason}`;
  return signal === undefined ? `exited with code ${code}` : `was ended by ${signal}`;
}

function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed) resolve();
    else stream.once("close", () => resolve());
  });
}

/** Whether `event` came within `ms`. */
export function within(event: Promise<void>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    const came = async (): Promise<void> => {
      await event;
      clearTimeout(timer);
      resolve(true);
    };
    void came();
  });
}
