/**
 * A server's stderr in our log: line by line, masked, as soon as a line is complete. Rules:
 * spec/mcp-proxy.md §9.
 */
import type { Readable } from "node:stream";
import type { Clock } from "@acp/core";
import { createLineSplitter } from "./framing.js";
import { LOG_LINE_CHARS_MAX, STDERR_QUIET_MS } from "./limits.js";
import { readInTurns } from "./loop-turns.js";
import type { LoopTurns } from "./loop-turns.js";
import { logText } from "./log-text.js";
import type { Masks } from "./masks.js";

/** Parts of {@link logStderr}. */
export interface StderrLog {
  readonly masks: Masks;
  readonly clock: Clock;
  readonly turns: LoopTurns;
  readonly log: (line: string) => void;
}

/** Logs what the server called `name` writes to its stderr. */
export function logStderr(
  stderr: Readable,
  name: string,
  { masks, clock, turns, log }: StderrLog,
): void {
  const write = (line: Buffer): void => {
    const text = line.toString("utf8").replace(/\r?\n$/, "");
    if (text !== "") log(`[${name}] ${logText(text)}`);
  };
  const lines = createLineSplitter(
    { onLine: write, onOversize: ({ head }) => write(head) },
    LOG_LINE_CHARS_MAX * 4,
  );
  const stream = masks.stream(lines);
  const over = new AbortController();
  const heard = onQuiet(clock, over.signal, () => stream.settle());
  readInTurns(stderr, turns, (bytes) => {
    stream.push(bytes);
    heard();
  });
  stderr.on("end", () => stream.end());
  stderr.on("close", () => over.abort());
  stderr.on("error", () => {});
}

/**
 * Calls `then` once nothing was heard for a while; returns what to call when something is heard. At
 * most one sleep is under way.
 */
function onQuiet(clock: Clock, signal: AbortSignal, then: () => void): () => void {
  let isWaiting = false;
  let isHeard = false;
  const wait = async (): Promise<void> => {
    isWaiting = true;
    try {
      while (isHeard) {
        isHeard = false;
        await clock.sleep(STDERR_QUIET_MS, { signal, background: true });
      }
      then();
    } finally {
      isWaiting = false;
    }
  };
  return () => {
    isHeard = true;
    // A sleep that fails, as at the stream's end, leaves what is held back to the end of the
    // stream.
    if (!isWaiting) wait().catch(() => {});
  };
}
