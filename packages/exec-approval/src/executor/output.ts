/** Output: hands on what a command writes, masked, in order, and no faster than it is taken. */
import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import type { Masker } from "@acp/core";

/** A piece of a command's output. */
export interface OutputChunk {
  /** The stream that the command wrote it to. */
  readonly stream: "stdout" | "stderr";
  /** Raw bytes; a character may be split over two chunks. */
  readonly chunk: Uint8Array;
}

/**
 * Takes output. The command is held back until a returned promise resolves. An error ends the
 * command.
 */
export type OutputTaker = (output: OutputChunk) => void | Promise<void>;

/** Where output goes, and how much of it. */
export interface OutputOptions {
  readonly take: OutputTaker;
  readonly bytesMax: number;
  /** Makes a masker a stream; none where no secret is known. */
  readonly masker: () => Masker | undefined;
  /** Called once, when there is more than may be. */
  readonly onExcess: () => void;
}

/** The output of one run. */
export interface Output {
  /** Settles when both streams ended and all was taken; rejects with what the taker threw. */
  readonly done: Promise<void>;
  /** Bytes handed on so far. */
  bytes(): number;
  /** Whether there was more than may be. */
  isExceeded(): boolean;
  /**
   * Waits for the end while something moves; false where nothing came for `quietMs`, where it was
   * closed, or where it goes on after `longestMs` though all that came was taken.
   */
  settledWithin(quietMs: number, longestMs: number): Promise<boolean>;
  /** Takes no more. */
  close(): void;
}

/** The two streams of a command. */
export type OutputStreams = Readonly<Record<OutputChunk["stream"], Readable>>;

/** Where the output of one run stands. */
interface Progress {
  bytes: number;
  /** Counts what happens, so that a standstill can be told from a slow taker. */
  moves: number;
  taking: number;
  isClosed: boolean;
  isOver: boolean;
  isExceeded: boolean;
}

/** Hands on one piece, or what of it may still be. */
async function hand(
  progress: Progress,
  { take, bytesMax }: OutputOptions,
  { stream, chunk }: OutputChunk,
): Promise<void> {
  const fitting = chunk.subarray(0, bytesMax - progress.bytes);
  progress.isExceeded ||= fitting.length < chunk.length;
  progress.bytes += fitting.length;
  progress.moves++;
  if (fitting.length === 0 || progress.isClosed) return;
  progress.taking++;
  try {
    await take({ stream, chunk: fitting });
  } finally {
    progress.taking--;
    progress.moves++;
  }
}

/** Waits for the end of an output as {@link Output.settledWithin} says. */
async function settled(
  progress: Progress,
  done: Promise<void>,
  { quietMs, longestMs }: { readonly quietMs: number; readonly longestMs: number },
): Promise<boolean> {
  const endMs = performance.now() + longestMs;
  for (let seen = -1; !progress.isOver; ) {
    if (progress.isClosed) return false;
    // A slow taker is waited for; a process that never stops writing is not.
    if (progress.taking === 0 && (seen === progress.moves || performance.now() >= endMs))
      return false;
    seen = progress.moves;
    await Promise.race([wait(quietMs), done.catch(() => undefined)]);
  }
  return true;
}

/** Follows the two streams of a command. */
export function followOutput(streams: OutputStreams, options: OutputOptions): Output {
  const progress: Progress = {
    bytes: 0,
    moves: 0,
    taking: 0,
    isClosed: false,
    isOver: false,
    isExceeded: false,
  };
  const close = (): void => {
    progress.isClosed = true;
    streams.stdout.destroy();
    streams.stderr.destroy();
  };
  const give = async (stream: OutputChunk["stream"], chunk: Uint8Array): Promise<void> => {
    await hand(progress, options, { stream, chunk });
    if (!progress.isExceeded || progress.isClosed) return;
    close();
    options.onExcess();
  };
  const follow = async (stream: OutputChunk["stream"]): Promise<void> => {
    const masks = options.masker();
    try {
      for await (const chunk of streams[stream] as AsyncIterable<unknown>) {
        // A stream without an encoding gives bytes and nothing else.
        if (chunk instanceof Uint8Array)
          await give(stream, masks === undefined ? chunk : masks.push(chunk));
      }
    } catch (error) {
      if (!progress.isClosed) throw error;
    }
    if (masks !== undefined && !progress.isClosed) await give(stream, masks.end());
  };
  const done = Promise.all([follow("stdout"), follow("stderr")]).then(() => undefined);
  done.catch(() => undefined).finally(() => (progress.isOver = true));
  return {
    done,
    bytes: () => progress.bytes,
    isExceeded: () => progress.isExceeded,
    settledWithin: (quietMs, longestMs) => settled(progress, done, { quietMs, longestMs }),
    close,
  };
}
