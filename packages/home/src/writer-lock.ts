/**
 * Writer lock: one process at a time changes keys and vault, for as long as it lives. Sockets in
 * the home show which one that is (`@acp/host`, `trySocketLock()`).
 */
import { setTimeout as wait } from "node:timers/promises";
import { ConsentError, quoteText } from "@acp/core";
import { type SocketLock, trySocketLock } from "@acp/host";
import { causeText, cannot } from "./errors.js";

const PREFIX = "writer.lock.";
/**
 * A change takes milliseconds, and rotating keys takes seconds on a busy machine: a process that
 * holds the lock for half a minute hangs.
 */
const TRIES = 1_200;
const WAIT_MS_MAX = 50;

/** The last change of a directory that this process has begun or waits to begin. */
const turns = new Map<string, Promise<void>>();

/**
 * Runs `change` while nobody else changes this home. Changes of this process go in their order, and
 * only one of them contends with other processes.
 *
 * @throws ConsentError `home_busy` if another process does not finish; `home_invalid` if there can
 * be no lock; and what `change` throws.
 */
export async function whileWriting<T>(dir: string, change: () => Promise<T>): Promise<T> {
  const before = turns.get(dir);
  const changed = (async () => {
    await before;
    await using _held = await holdWriter(dir);
    return await change();
  })();
  const turn = changed.then(
    () => undefined,
    () => undefined,
  );
  turns.set(dir, turn);
  try {
    return await changed;
  } finally {
    if (turns.get(dir) === turn) turns.delete(dir);
  }
}

/** A lock that is held until you dispose of it. */
export type HeldWriter = AsyncDisposable;

/**
 * Takes the lock that lets only this process change the directory.
 *
 * @param triesMax - How often to try. Use 1 if another process would hold the lock for long.
 * Default: 1,200, about half a minute.
 * @throws ConsentError `home_busy` if another process does not finish; `home_invalid` if there can
 * be no lock.
 */
export async function holdWriter(dir: string, triesMax: number = TRIES): Promise<HeldWriter> {
  const lock = await takeLock(dir, triesMax);
  return { [Symbol.asyncDispose]: () => lock.release() };
}

async function takeLock(dir: string, triesMax: number): Promise<SocketLock> {
  for (let tries = 1; ; tries++) {
    // Whether another process changes the home or is about to: either way this one waits.
    const lock = await trySocketLock({ directory: dir, prefix: PREFIX, answerMsMax: 0 }).catch(
      (error: unknown) => {
        throw cannot("lock", dir)(causeText(error), error);
      },
    );
    if (lock.isHeld) return lock;
    if (tries >= triesMax)
      throw new ConsentError(
        "home_busy",
        `Cannot change ${quoteText(dir)}: another process is changing it`,
      );
    await wait(Math.random() * WAIT_MS_MAX);
  }
}
