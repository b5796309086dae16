/**
 * TypedInput: lines that a person types, with a way to throw away what was typed before they could
 * know what it answers, and to tell keys from a paste. The terminal is unbuffered only for those
 * two; otherwise it keeps its own line editing and signals.
 */
import { StringDecoder } from "node:string_decoder";
import type { Readable } from "node:stream";
import type { Clock } from "@acp/core";
import { createKeyedLine } from "./keyed-line.js";

/** Characters kept while nobody reads; more is thrown away, it would be so anyway. */
const HELD_CHARS_MAX: number = 4 * 1024 * 1024;

/** What a person types into: a terminal, or a stream in tests. */
export type InputStream = Readable & {
  /** Whether keys can be read one at a time. */
  readonly isTTY?: boolean;
  /** Turns line editing and signals of the terminal off or on, as `tty.ReadStream` does. */
  setRawMode?(mode: boolean): unknown;
};

/** What came of reading. */
export type Typed =
  | { readonly kind: "line"; readonly text: string }
  /** The input is over: end of file or hang-up. */
  | { readonly kind: "over" }
  /** The signal ended the wait. */
  | { readonly kind: "gone" };

/** What came of reading what may be an answer. */
export type TypedKeys =
  | Exclude<Typed, { kind: "line" }>
  /** `isKeyByKey`: whether each key came by itself, as a person types. */
  | { readonly kind: "line"; readonly text: string; readonly isKeyByKey: boolean }
  /** It was pasted, and is thrown away. */
  | { readonly kind: "pasted" };

/** What was thrown away: nothing, whole lines, or the beginning of a line that may go on. */
export type Drained = "nothing" | "lines" | "partial";

/** Lines from a person. */
export interface TypedInput {
  readonly isTTY: boolean;
  /** Settles when the input is over. */
  readonly over: Promise<void>;
  /** Throws away what was typed until now and until `quietMs` pass without more. */
  drain(quietMs: number, signal: AbortSignal): Promise<Drained>;
  /** The next line, without its end. */
  readLine(signal: AbortSignal): Promise<Typed>;
  /** The next line, key by key where this is a terminal; `echo` shows what was typed. */
  readKeys(signal: AbortSignal, echo: (text: string) => void): Promise<TypedKeys>;
  /** Lets go of the stream; reads nothing more. */
  release(): void;
}

/** Options of {@link createTypedInput}. */
export interface TypedInputOptions {
  readonly stream: InputStream;
  readonly clock: Clock;
  /**
   * Passes on a signal that was typed while the terminal was unbuffered; to the whole foreground
   * unless given, as the terminal does.
   */
  readonly raise?: (signal: NodeJS.Signals) => void;
}

interface Held {
  text: string;
  /** Takes what each read gives, in the place of `text`. */
  take: ((read: string) => void) | undefined;
  over: boolean;
  changed: () => void;
}

function cutLine(held: Held): string | undefined {
  const end = held.text.search(/[\r\n]/);
  if (end === -1) return undefined;
  const line = held.text.slice(0, end);
  const next = held.text.startsWith("\r\n", end) ? end + 2 : end + 1;
  held.text = held.text.slice(next);
  return line;
}

/** Waits for a change of what is held, for the signal, or for `ms` to pass where it is given. */
async function waitForChange(
  held: Held,
  { signal, clock, ms }: { signal: AbortSignal; clock: Clock; ms?: number },
): Promise<"changed" | "gone" | "quiet"> {
  if (signal.aborted) return "gone";
  const timer = new AbortController();
  const quiet =
    ms === undefined
      ? []
      : [
          clock.sleep(ms, { signal: timer.signal }).then(
            () => "quiet" as const,
            () => "gone" as const,
          ),
        ];
  const change = new Promise<"changed" | "gone">((resolve) => {
    const stop = (): void => resolve("gone");
    signal.addEventListener("abort", stop, { once: true, signal: timer.signal });
    held.changed = () => resolve("changed");
  });
  try {
    return await Promise.race([change, ...quiet]);
  } finally {
    held.changed = () => undefined;
    timer.abort();
  }
}

type Source = Required<TypedInputOptions> & { readonly held: Held };

function setRaw({ stream, held }: Source, on: boolean): void {
  if (!held.over && stream.isTTY === true) stream.setRawMode?.(on);
}

async function drain(source: Source, quietMs: number, signal: AbortSignal): Promise<Drained> {
  const { clock, held } = source;
  let last = "";
  // INVARIANT: a terminal holds back a line that is being typed until it is finished; unbuffered,
  // it hands it over now.
  setRaw(source, true);
  try {
    for (;;) {
      last = (last + held.text).slice(-1);
      held.text = "";
      const change = await waitForChange(held, { signal, clock, ms: quietMs });
      if (change !== "changed" || held.over) break;
    }
  } finally {
    setRaw(source, false);
  }
  if (last === "") return "nothing";
  return last === "\n" || last === "\r" ? "lines" : "partial";
}

/** Hands the terminal back for a signal: what stops here (Ctrl-Z) goes on as it was. */
function raise(source: Source, signal: NodeJS.Signals): void {
  setRaw(source, false);
  source.raise(signal);
  setRaw(source, true);
}

async function readKeys(
  source: Source,
  signal: AbortSignal,
  echo: (text: string) => void,
): Promise<TypedKeys> {
  const { stream, clock, held } = source;
  if (stream.isTTY !== true) {
    const typed = await readLine(source, signal);
    return typed.kind === "line" ? { ...typed, isKeyByKey: true } : typed;
  }
  const line = createKeyedLine();
  let end: TypedKeys | undefined;
  const take = (read: string): void => {
    if (end !== undefined || read === "") return;
    const keyed = line.take(read);
    if (keyed.kind === "more") echo(keyed.echo);
    else if (keyed.kind === "signal") raise(source, keyed.signal);
    else end = keyed;
  };
  setRaw(source, true);
  held.take = take;
  try {
    while (end === undefined) {
      if (signal.aborted) return { kind: "gone" };
      if (held.over) return { kind: "over" };
      await waitForChange(held, { signal, clock });
    }
    return end;
  } finally {
    held.take = undefined;
    setRaw(source, false);
  }
}

async function readLine({ clock, held }: Source, signal: AbortSignal): Promise<Typed> {
  for (;;) {
    if (signal.aborted) return { kind: "gone" };
    const text = cutLine(held);
    if (text !== undefined) return { kind: "line", text };
    if (held.over) return { kind: "over" };
    await waitForChange(held, { signal, clock });
  }
}

/** To every process of the foreground, ours among them. */
const raiseInForeground = (signal: NodeJS.Signals): void => void process.kill(0, signal);

/**
 * Starts to read a stream; from now on it belongs to the input until {@link TypedInput.release}.
 */
export function createTypedInput({
  stream,
  clock,
  raise: raiseHere = raiseInForeground,
}: TypedInputOptions): TypedInput {
  const decoder = new StringDecoder("utf8");
  const held: Held = { text: "", take: undefined, over: false, changed: () => undefined };
  const source: Source = { stream, clock, raise: raiseHere, held };
  let tellOver = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    tellOver = resolve;
  });

  const onData = (chunk: Buffer): void => {
    const read = decoder.write(chunk);
    const text = held.text + (held.take === undefined ? read : "");
    held.take?.(read);
    held.text = text.length > HELD_CHARS_MAX ? "" : text;
    held.changed();
  };
  const onOver = (): void => {
    held.over = true;
    tellOver();
    held.changed();
  };
  stream.on("data", onData);
  stream.on("end", onOver);
  stream.on("close", onOver);
  // Stays after the release: an error that nobody listens to would end the process.
  stream.on("error", onOver);
  // Who read it before may have paused it.
  stream.resume();

  return {
    isTTY: stream.isTTY === true,
    over,
    drain: (quietMs, signal) => drain(source, quietMs, signal),
    readLine: (signal) => readLine(source, signal),
    readKeys: (signal, echo) => readKeys(source, signal, echo),
    release() {
      stream.off("data", onData);
      stream.off("end", onOver);
      stream.off("close", onOver);
      stream.pause();
    },
  };
}
