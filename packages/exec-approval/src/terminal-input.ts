/**
 * TerminalInput: lines that a person types, with a way to throw away what was typed before they
 * could know what it answers. The terminal keeps its own line editing; it is unbuffered only while
 * old input is thrown away.
 */
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { Clock } from "@acp/core";

/** What a person types into: a terminal, or any other stream, which is read line by line. */
export type InputStream = Readable & {
  /** Whether it is a terminal. */
  readonly isTTY?: boolean;
  /** Reads key by key, as `tty.ReadStream` does. */
  setRawMode?(mode: boolean): unknown;
};

/**
 * Why a terminal client ended: by its signal, with its input, or because the gateway refused it for
 * good. None of them answers a request.
 */
export type TerminalEnd = "aborted" | "input_over" | "gateway_gone";

/** What was thrown away: nothing, whole lines, or the beginning of a line that may go on. */
type Drained = "nothing" | "lines" | "partial";

/** Lines from a person. */
export interface TerminalInput {
  readonly isTTY: boolean;
  /** Aborts when the input is over: end of file or hang-up. */
  readonly over: AbortSignal;
  /** Throws away what was typed until now and until `quietMs` pass without more. */
  drain(quietMs: number, signal: AbortSignal): Promise<Drained>;
  /**
   * The next line, without its end; `undefined` where the signal or the end of the input came
   * first.
   */
  readLine(signal: AbortSignal): Promise<string | undefined>;
  /** Reads nothing more. */
  release(): void;
}

/** Characters kept while nobody reads; more is thrown away. */
const HELD_CHARS_MAX: number = 1024 * 1024;
/**
 * Stands for what was thrown away: the end of a line whose beginning is gone must not pass for a
 * whole one.
 */
const THROWN_AWAY = "\u0000";

interface Source {
  readonly stream: InputStream;
  readonly clock: Clock;
  readonly over: AbortSignal;
  held: string;
  changed: () => void;
}

/** Waits for more input; false where the signal, the end of the input or the time came first. */
async function waitForMore(source: Source, signal: AbortSignal, ms?: number): Promise<boolean> {
  const done = new AbortController();
  const until = AbortSignal.any([signal, source.over]);
  if (until.aborted) return false;
  try {
    return await new Promise<boolean>((resolve) => {
      source.changed = () => resolve(true);
      until.addEventListener("abort", () => resolve(false), { once: true, signal: done.signal });
      if (ms === undefined) return;
      source.clock.sleep(ms, { signal: done.signal }).then(
        () => resolve(false),
        () => undefined,
      );
    });
  } finally {
    source.changed = () => undefined;
    done.abort();
  }
}

async function drain(source: Source, quietMs: number, signal: AbortSignal): Promise<Drained> {
  const { stream, over } = source;
  const raw = (on: boolean): void => {
    if (stream.isTTY === true && !over.aborted) stream.setRawMode?.(on);
  };
  let last = "";
  // INVARIANT: a terminal holds back a line that is being typed until it is finished; unbuffered,
  // it hands it over now.
  raw(true);
  try {
    do {
      last = (last + source.held).slice(-1);
      source.held = "";
    } while (await waitForMore(source, signal, quietMs));
  } finally {
    raw(false);
  }
  if (last === "") return "nothing";
  return last === "\n" || last === "\r" ? "lines" : "partial";
}

async function readLine(source: Source, signal: AbortSignal): Promise<string | undefined> {
  for (;;) {
    if (signal.aborted) return undefined;
    const { held } = source;
    const end = held.search(/[\r\n]/);
    if (end !== -1) {
      source.held = held.slice(held.startsWith("\r\n", end) ? end + 2 : end + 1);
      return held.slice(0, end);
    }
    if (!(await waitForMore(source, signal))) return undefined;
  }
}

/** Starts to read a stream; from now on it belongs to the input. */
export function createTerminalInput(stream: InputStream, clock: Clock): TerminalInput {
  const decoder = new StringDecoder("utf8");
  const over = new AbortController();
  const source: Source = { stream, clock, over: over.signal, held: "", changed: () => undefined };
  const onData = (chunk: Buffer): void => {
    const held = source.held + decoder.write(chunk);
    source.held = held.length > HELD_CHARS_MAX ? THROWN_AWAY : held;
    source.changed();
  };
  const onOver = (): void => over.abort();
  stream.on("data", onData).on("end", onOver).on("close", onOver);
  // Stays after the release: an error that nobody listens to would end the process.
  stream.on("error", onOver);
  stream.resume();
  return {
    isTTY: stream.isTTY === true,
    over: over.signal,
    drain: (quietMs, signal) => drain(source, quietMs, signal),
    readLine: (signal) => readLine(source, signal),
    release() {
      stream.off("data", onData).off("end", onOver).off("close", onOver);
      stream.pause();
    },
  };
}
