/**
 * Text watch: a file that decides, while people edit it. A file that is still being written is not
 * told of, because its first half might load without what stands at its end. It does not keep the
 * process alive.
 */
import { watch } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { ConsentError, POLICY_BYTES_MAX } from "@acp/core";
import { readTextFile } from "./text-file.js";
import { tellsChanges } from "./told-changes.js";

/** Options of {@link watchText}. */
export interface TextWatchOptions {
  /** The text that is known already. */
  readonly seen: string;
  /** Called once for each change, with the text, or with why it cannot be read. */
  readonly onText: (found: string | ConsentError) => void;
  /** Ends the watch. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How often to check the file if the system reports no changes, in milliseconds. Default: 2,000,
   * and 30,000 if the system reports the changes of its file system and the file is not a link.
   */
  readonly pollMs?: number;
  /**
   * How long the file must stay unchanged before it counts, in milliseconds; ten times that if its
   * last line has no end. Default: 1,000.
   */
  readonly stillMs?: number;
}

/** A file that is watched. */
export interface TextWatch extends Disposable {
  /** Checks the file now; resolves when what was found is told. */
  refresh(): Promise<void>;
  /** Stops watching. */
  close(): void;
}

const POLL_MS = 2_000;
/** Where the system says what changes: a minute of nothing to do is not to cost a processor's time. */
const TOLD_POLL_MS = 30_000;
/** Editors write in several steps: looking is for what comes behind the last of a few. */
const SETTLE_MS = 100;
/** Longer than a writer rests between two steps, also on a slow disk. */
const STILL_MS = 1_000;
/** What ends in the middle of a line was most likely cut there. */
const OPEN_END = 10;

/** Follows a file of at most `POLICY_BYTES_MAX` bytes. */
export function watchText(path: string, options: TextWatchOptions): TextWatch {
  const { pollMs, signal } = options;
  const source = openSource(path, options);
  let looking = Promise.resolve();
  const refresh = (): Promise<void> => (looking = looking.then(() => lookUntilStill(source)));
  const stopWatching = onChange(path, pollMs, () => void refresh());
  const close = (): void => {
    source.end();
    stopWatching();
    signal?.removeEventListener("abort", close);
  };
  signal?.addEventListener("abort", close, { once: true });
  if (signal?.aborted === true) close();
  return { refresh, close, [Symbol.dispose]: close };
}

interface TextSource {
  /** Milliseconds after which to look again, where what was found may be half of a file. */
  look(): Promise<number | undefined>;
  end(): void;
}

const later = (ms: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, ms).unref());

async function lookUntilStill(source: TextSource): Promise<void> {
  for (let restMs = await source.look(); restMs !== undefined; restMs = await source.look())
    await later(restMs);
}

/**
 * How long a text has to stay in its file: what is there may be the beginning of what is being
 * written.
 */
function stillMsOf(
  text: string,
  { stillMs = STILL_MS }: Pick<TextWatchOptions, "stillMs">,
): number {
  return text.endsWith("\n") ? stillMs : stillMs * OPEN_END;
}

/** Resolves when the file has stayed as it is for a while, or cannot be read. */
export async function untilStill(
  path: string,
  options: Pick<TextWatchOptions, "stillMs">,
): Promise<void> {
  const read = (): Promise<string | undefined> =>
    readTextFile(path, POLICY_BYTES_MAX).catch(() => undefined);
  for (let before = await read(), now; before !== undefined; before = now) {
    await later(stillMsOf(before, options));
    now = await read();
    if (now === before) return;
  }
}

/** What is known of the file, whoever says that it changed. */
function openSource(
  path: string,
  { seen: known, onText, ...options }: TextWatchOptions,
): TextSource {
  let seen = known;
  let ended = false;
  let pending: { readonly fingerprint: string; readonly sinceMs: number } | undefined;

  /** How much longer what was found has to stay. */
  function restMsOf(fingerprint: string): number {
    const nowMs = performance.now();
    if (pending?.fingerprint !== fingerprint) pending = { fingerprint, sinceMs: nowMs };
    return stillMsOf(fingerprint, options) - (nowMs - pending.sinceMs);
  }

  return {
    async look() {
      const found = await readTextFile(path, POLICY_BYTES_MAX).catch(asUnreadable);
      const fingerprint = typeof found === "string" ? found : `\0${found.message}\n`;
      if (ended || fingerprint === seen) {
        pending = undefined;
        return undefined;
      }
      const restMs = restMsOf(fingerprint);
      if (restMs > 0) return restMs;
      seen = fingerprint;
      onText(found);
      return undefined;
    },
    end() {
      ended = true;
    },
  };
}

function asUnreadable(error: unknown): ConsentError {
  return error instanceof ConsentError
    ? error
    : new ConsentError("home_invalid", "Cannot read the file: reading it failed", { cause: error });
}

/**
 * Calls `look` once things are quiet after a change. The directory is watched, because editors
 * replace the file; polling is for where watching fails, and often where it may.
 */
function onChange(path: string, pollMs: number | undefined, look: () => void): () => void {
  let settling: NodeJS.Timeout | undefined;
  const soon = (): void => {
    clearTimeout(settling);
    settling = setTimeout(look, SETTLE_MS).unref();
  };
  const watcher = watchName(path, soon);
  let before: string | undefined;
  const poll = async (): Promise<void> => {
    const now = await signatureOf(path);
    if (before !== now) soon(); // the first time too: the file may have changed before we looked
    before = now;
  };
  let isOver = false;
  let polling: NodeJS.Timeout | undefined;
  const pollIn = (ms: number): void => {
    if (isOver) return;
    polling = setTimeout(() => void poll().then(paceMs).then(pollIn), ms).unref();
  };
  const paceMs = async (): Promise<number> => {
    if (pollMs !== undefined) return pollMs;
    return watcher?.isBroken() === false && (await tellsChanges(path)) ? TOLD_POLL_MS : POLL_MS;
  };
  pollIn(pollMs ?? POLL_MS);
  return () => {
    isOver = true;
    clearTimeout(settling);
    clearTimeout(polling);
    watcher?.close();
  };
}

interface NameWatcher {
  /** Whether it says nothing any more. */
  isBroken(): boolean;
  close(): void;
}

function watchName(path: string, changed: () => void): NameWatcher | undefined {
  try {
    let isBroken = false;
    const watcher = watch(dirname(path), { persistent: false }, (_event, name) => {
      if (name === null || name === basename(path)) changed();
    });
    watcher.on("error", () => {
      isBroken = true;
      watcher.close(); // polling goes on
    });
    return { isBroken: () => isBroken, close: () => watcher.close() };
  } catch {
    return undefined;
  }
}

/** What changes whenever the file does, also behind a symbolic link. */
async function signatureOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(":");
  } catch {
    return "gone";
  }
}
