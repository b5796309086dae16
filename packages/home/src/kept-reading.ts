/**
 * Kept reading: what was read of a file is good for as long as one look at the file shows that nobody
 * touched it since. So what changed counts at the very next reading, and what did not costs no more
 * than that look.
 */
import { lstatSync } from "node:fs";
import { onceATurn } from "./once-a-turn.js";
import { tellsChanges } from "./told-changes.js";

/**
 * A file that changed within this time may change again without showing it: its times have the grain
 * of the system's timer, and on some disks that of a second. Until then it is read each time.
 */
const SETTLED_MS = 2_000;
const NS_PER_MS = 1_000_000n;

/** What differs whenever the file does, and whether a later change is sure to show in it. */
interface Look {
  readonly mark: string;
  readonly isSettled: boolean;
}

/**
 * Reads a file, or the names in a directory, unless what was read last is still there. What is read
 * over a link, on a file system that others write too, or just after a change, is read each time.
 *
 * @param path - What `read` reads, and nothing else: it is looked at synchronously.
 * @param read - What it throws is thrown, and never kept.
 */
export function createKeptReading<T>(path: string, read: () => Promise<T>): () => Promise<T> {
  let kept: { readonly mark: string; readonly value: T } | undefined;
  return async () => {
    // Before it is read: what changes meanwhile has another mark than what is kept.
    const look = lookAt(path);
    if (kept !== undefined && kept.mark === look?.mark) return kept.value;
    kept = undefined;
    const value = await read();
    if (look?.isSettled === true && (await tellsChanges(path))) kept = { mark: look.mark, value };
    return value;
  };
}

/**
 * The same for what is read synchronously. Until the system has said whether changes of the file
 * show, it is read each time.
 *
 * @param read - What it throws is thrown, and never kept.
 */
export function createKeptReadingSync<T>(path: string, read: () => T): () => T {
  let kept: { readonly mark: string; readonly value: T } | undefined;
  /** Of the file with this mark. */
  let told: { readonly mark: string; readonly isTold: boolean } | undefined;
  return () => {
    const look = lookAt(path);
    if (kept !== undefined && kept.mark === look?.mark) return kept.value;
    kept = undefined;
    const value = read();
    if (look?.isSettled !== true) return value;
    const { mark } = look;
    if (told?.mark !== mark) {
      told = { mark, isTold: false };
      void tellsChanges(path).then((isTold) => (told = { mark, isTold }));
    } else if (told.isTold) kept = { mark, value };
    return value;
  };
}

/** In one turn of the event loop for all who need it. */
const lookAt = onceATurn((path: string): Look | undefined => {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
    return {
      mark: [dev, ino, size, mtimeNs, ctimeNs].join(":"),
      isSettled: Date.now() - Number(ctimeNs / NS_PER_MS) > SETTLED_MS,
    };
  } catch {
    return undefined;
  }
});
