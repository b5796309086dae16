/**
 * Key ring: the keys of a running gate. Somebody may rotate the home's keys meanwhile; the gate
 * then opens the new ones, as soon as the system says that the file changed, and again whenever it
 * needs a key. What was given under the old key ends.
 */
import { randomBytes } from "node:crypto";
import { watch } from "node:fs";
import { basename, dirname } from "node:path";
import { performance } from "node:perf_hooks";
import { ConsentError } from "@acp/core";
import type { KeyPair } from "@acp/core/proof";
import { createUseCheck, onceATurn, openRecordKey } from "@acp/home";
import type { Home } from "@acp/home";

/** Keys that do not open are tried again after this time: a passphrase takes half a second. */
const AGAIN_MS = 5_000;
const KEY_BYTES = 32;

/** The keys of a gate, as they are now. */
export interface KeyRing {
  /**
   * The home's keys, opened anew where they were rotated.
   *
   * @throws ConsentError what opening them throws.
   */
  fresh(): Promise<KeyPair>;
  /** Whether the keys must not be used, although they open. */
  isStopped(): boolean;
  /** Why nobody can be asked now: there is no key that could sign the answer. */
  whyNot(): string | undefined;
  /**
   * For the gate's option of that name: one of its own while the keys are rotated and not yet
   * opened.
   */
  recordKey(): Uint8Array;
  /** Follows the file, and says when other keys are in use or do not open; for any number. */
  follow(say: (text: string) => void): Disposable;
}

/** Parts of {@link createKeyRing}. */
export interface KeyRingParts {
  readonly home: Home;
  /** As opened at the start. */
  readonly keys: KeyPair;
  /** Opens the keys again, without asking anybody. */
  readonly reopen: () => Promise<KeyPair>;
  /** Why the keys of now must not be used, although they open; `undefined` where they may. */
  readonly whyStopped: () => Promise<string | undefined>;
  /** Why the keys of the start must not be used: they open, and are not those in use. */
  readonly whyUnused?: string | undefined;
}

interface Opened {
  readonly keys: KeyPair;
  readonly recordKey: Uint8Array;
  /** In the place of the record key once these keys are out of use. */
  readonly gone: Uint8Array;
}

/** Creates the ring. */
export async function createKeyRing({
  home,
  keys,
  reopen,
  whyStopped,
  whyUnused,
}: KeyRingParts): Promise<KeyRing> {
  let opened = await openedOf(home, keys);
  let opening: Promise<KeyPair> | undefined;
  const use = await createUse(whyStopped, whyUnused);
  let failed = use.error === undefined ? undefined : failure(use.error);
  const followers = createFollowers(home.publicKeyPath, () => look());
  const whyOut = onceATurn(createUseCheck(home));
  const isOut = (): boolean => use.error !== undefined || whyOut(opened.keys) !== undefined;
  const isFailed = (): boolean =>
    failed !== undefined && performance.now() - failed.atMs < AGAIN_MS;
  const open = async (): Promise<KeyPair> => {
    try {
      const { publicKey } = opened.keys;
      const next = await reopen();
      await use.check();
      opened = await openedOf(home, next);
      failed = undefined;
      followers.say(sayOpened(publicKey, opened.keys.publicKey));
      return opened.keys;
    } catch (error) {
      if (failed === undefined) followers.say(sayFailed(error, use));
      failed = failure(error);
      throw error;
    } finally {
      opening = undefined;
    }
  };
  const fresh = async (): Promise<KeyPair> => {
    // Somebody may have rotated them and put them back, with nobody looking in between.
    if (!isOut()) await use.look();
    if (!isOut()) return opened.keys;
    if (opening === undefined && isFailed()) throw failed?.error;
    return (opening ??= open());
  };
  const look = (): void => void fresh().catch(() => undefined); // said, and thrown to who needs it
  return {
    fresh,
    isStopped: () => use.error !== undefined,
    whyNot() {
      if (!isOut()) return undefined;
      look();
      return failed === undefined
        ? "the keys were rotated and this gate is opening the new ones; ask again in a second"
        : whyFailed(failed.error, use);
    },
    recordKey: () => (isOut() ? opened.gone : opened.recordKey),
    follow(next) {
      if (use.error !== undefined && failed !== undefined) next(sayFailed(failed.error, use));
      return followers.add(next);
    },
  };
}

interface Followers {
  say(text: string): void;
  add(next: (text: string) => void): Disposable;
}

/** Those who hear of the keys; the file is watched while there are some. */
function createFollowers(path: string, changed: () => void): Followers {
  const told = new Set<(text: string) => void>();
  let watching: { close(): void } | undefined;
  return {
    say: (text) => told.forEach((tell) => tell(text)),
    add(next) {
      // The same function twice are two that follow.
      const tell = (text: string): void => next(text);
      told.add(tell);
      watching ??= watchFile(path, changed);
      return {
        [Symbol.dispose]() {
          told.delete(tell);
          if (told.size > 0) return;
          watching?.close();
          watching = undefined;
        },
      };
    },
  };
}

async function openedOf(home: Home, keys: KeyPair): Promise<Opened> {
  const recordKey = await openRecordKey(home, keys);
  return { keys, recordKey, gone: randomBytes(KEY_BYTES) };
}

interface Failure {
  readonly error: unknown;
  readonly atMs: number;
}

const failure = (error: unknown): Failure => ({ error, atMs: performance.now() });

const sayOpened = (before: string, now: string): string =>
  before === now
    ? "The keys of this home are used again"
    : `The keys were rotated: this gate signs with ${now} from now on; approvals that nobody has used and grants from before are over`;

/** Whether keys that open may be used. */
interface Use {
  /** Why they must not be; `undefined` where they may. */
  readonly error: ConsentError | undefined;
  look(): Promise<void>;
  /** Looks, and throws the error where there is one. */
  check(): Promise<void>;
}

async function createUse(
  whyStopped: KeyRingParts["whyStopped"],
  whyUnused: string | undefined,
): Promise<Use> {
  let error: ConsentError | undefined;
  const set = (why: string | undefined): void => {
    error =
      why === undefined
        ? undefined
        : new ConsentError("key_rejected", `Cannot use the keys of this home: ${why}`);
  };
  const look = async (): Promise<void> => set(await whyStopped());
  // Until they are opened again: whether an unused key is an older one says nothing.
  if (whyUnused === undefined) await look();
  else set(whyUnused);
  return {
    get error() {
      return error;
    },
    look,
    async check() {
      await look();
      if (error !== undefined) throw error;
    },
  };
}

const sayFailed = (error: unknown, use: Use): string =>
  `${use.error === undefined ? "Every call is denied" : "Nobody is asked"} from now on: ${whyFailed(error, use)}`;

/** Of keys that must not be used the error says it all. */
function whyFailed(error: unknown, use: Use): string {
  const why = error instanceof ConsentError ? error.message : String(error);
  if (use.error !== undefined) return why;
  return `the keys were rotated and the new ones do not open (${why}); fix that, or restart this gate`;
}

/** Where the system does not say what changes, the next call that needs a key finds out. */
function watchFile(path: string, changed: () => void): { close(): void } | undefined {
  try {
    const watcher = watch(dirname(path), { persistent: false }, (_event, name) => {
      if (name === null || name === basename(path)) changed();
    });
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
