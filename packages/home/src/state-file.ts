/**
 * State files: files of the home that carry consent. Each counts its saves and is sealed by a key
 * of the home, so that an older copy that is put in its place is seen: it counts as absent. Format:
 * spec/home.md §11.
 */
import { createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { basename, dirname } from "node:path";
import { isJsonObject, type JsonObject } from "@acp/core";
import type { FileState } from "@acp/core/unstable";
import { readCheckpointKey } from "./checkpoint-key.js";
import { createFileAtomic, writeFileAtomic } from "./atomic.js";
import { cannot } from "./errors.js";
import { homePaths } from "./paths.js";
import { isMissing, readPrivateFile } from "./private-file.js";
import { whileWriting } from "./writer-lock.js";

/**
 * Judges the states of one file by what is known outside of it, which for `acp` is the home's log.
 * Unless given, a store refuses what is older than what it has seen itself.
 */
export interface StateGuard {
  /** Returns the highest counter that is known: the next save is above it. */
  counter(): Promise<number>;
  /**
   * Returns why a state does not count; `undefined` if it does. One that does not count is as if
   * the file were not there. Rejects if nobody can tell; only a revocation is written then.
   */
  whyNot(state: FileState): Promise<string | undefined>;
  /**
   * Takes a state that was just saved, while the home is locked. If it rejects, so does the change.
   *
   * @param isNoted - False for a use of a grant, which its own event notes.
   */
  saved(state: FileState, isNoted: boolean): Promise<void>;
}

/** What a file holds, and how it is read and printed. */
export interface StateFileParts<T> {
  readonly path: string;
  readonly bytesMax: number;
  readonly guard?: StateGuard | undefined;
  /** Hears why the file does not count, at each reading. */
  readonly onIgnored?: ((why: string) => void) | undefined;
  /** What a missing file holds. */
  readonly empty: T;
  /** Throws for a text that is none of such a file. */
  parse(text: string): T;
  /** Without version, counter and seal. */
  print(content: T): JsonObject;
}

/** A file that is read and changed as a whole. */
export interface StateFile<T> {
  /** @throws ConsentError `home_invalid`; what the guard throws. */
  read(): Promise<T>;
  /** Changes it, where `next` is given, while the home is locked; resolves when that is noted. */
  change<R>(make: (content: T) => Promise<StateChange<T, R>>): Promise<R>;
  /** The same for what only takes away: it is written also where the guard cannot tell. */
  revoke<R>(make: (content: T) => Promise<StateChange<T, R>>): Promise<R>;
}

/** What a change leaves and answers. */
export interface StateChange<T, R> {
  /** Left out: nothing is written. */
  readonly next?: T;
  readonly answer: R;
  /** Whether an event of its own says what changed. */
  readonly isNotedElsewhere?: boolean;
}

const VERSION = "1";
const INFO = "acp/home-state/v1";
const KEY_BYTES = 32;
const HASH_CHARS = 8;

/** Opens such a file; it need not exist. */
export function openStateFile<T>(parts: StateFileParts<T>): StateFile<T> {
  const { path, bytesMax, guard = memoryGuard(), onIgnored, empty, parse } = parts;
  const load = async (by: StateGuard, before?: string): Promise<Loaded<T>> => {
    if (await isMissing(path)) return { content: empty, counter: 0 };
    const text = await readPrivateFile(path, bytesMax);
    const content = parse(text);
    const state = await readState(path, text);
    if (state === undefined) throw cannot("read", path)("its counter is not a whole number");
    const why = await by.whyNot(state);
    // A number that nobody sealed is no reason for a save above it: it could be the greatest one.
    const counter = state.isSealed ? state.counter : 0;
    if (why === undefined) return { content, counter };
    // Somebody may have saved it between the two looks: then it is older only here.
    if (text !== before) return load(by, text);
    onIgnored?.(why);
    return { content: empty, counter, ignored: text };
  };
  const change = <R>(
    by: StateGuard,
    make: (content: T) => Promise<StateChange<T, R>>,
  ): Promise<R> =>
    whileWriting(dirname(path), async () => {
      const before = await load(by);
      const { next, answer, isNotedElsewhere = false } = await make(before.content);
      if (next !== undefined)
        await by.saved(await save({ ...parts, guard: by }, next, before), !isNotedElsewhere);
      return answer;
    });
  return {
    read: async () => (await load(guard)).content,
    change: (make) => change(guard, make),
    revoke: (make) => change(evenUnknown(guard), make),
  };
}

/** What nobody can tell holds nothing up. */
const evenUnknown = (guard: StateGuard): StateGuard => ({
  counter: () => guard.counter().catch(() => 0),
  whyNot: (state) => guard.whyNot(state).catch(() => undefined),
  saved: (state, isNoted) => guard.saved(state, isNoted),
});

interface Loaded<T> {
  readonly content: T;
  readonly counter: number;
  /** The text of a file that does not count. */
  readonly ignored?: string;
}

async function save<T>(
  { path, bytesMax, guard, print }: StateFileParts<T> & { readonly guard: StateGuard },
  content: T,
  { counter, ignored }: Loaded<T>,
): Promise<FileState> {
  const next = Math.max(counter, await guard.counter()) + 1;
  if (!Number.isSafeInteger(next)) throw cannot("write", path)("its counter is at its end");
  const text = await printState(path, { version: VERSION, counter: next, ...print(content) });
  // What could not be read again is not written: one entry that is too large must not end them all.
  if (Buffer.byteLength(text) > bytesMax)
    throw cannot("write", path)(`it would have more than ${bytesMax} bytes`);
  if (ignored !== undefined)
    await createFileAtomic(`${path}.older-${digestOf(ignored).slice(0, HASH_CHARS)}`, ignored);
  await writeFileAtomic(path, text);
  return { counter: next, hash: `sha256:${digestOf(text)}`, isSealed: true };
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

async function printState(path: string, body: JsonObject): Promise<string> {
  const key = await readSealKey(path);
  // As it is read again: without members that are undefined.
  const plain = objectIn(JSON.stringify(body));
  const sealed = key === undefined ? plain : { ...plain, seal: sealOf(path, plain, key) };
  return `${JSON.stringify(sealed, undefined, 2)}\n`;
}

/**
 * Returns the state of a file by its text; `undefined` if it is none of the home's state files.
 *
 * @param path - Its name is sealed with it, and the key is beside it.
 */
export async function readState(path: string, text: string): Promise<FileState | undefined> {
  const { seal, ...body } = objectIn(text);
  const { version, counter = 0 } = body;
  if (version !== VERSION || !isCount(counter)) return undefined;
  const key = await readSealKey(path);
  // A home without that key seals nothing.
  const isSealed =
    key === undefined || (typeof seal === "string" && isSeal(path, seal, { body, key }));
  return { counter, hash: `sha256:${digestOf(text)}`, isSealed };
}

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

function objectIn(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/**
 * It follows from the key that signs checkpoints, which needs no unlocking: whoever revokes
 * something is not asked for a passphrase. `undefined` where the home has none.
 */
async function readSealKey(path: string): Promise<Uint8Array | undefined> {
  const text = await readCheckpointKey(homePaths(dirname(path)));
  return text === undefined
    ? undefined
    : new Uint8Array(hkdfSync("sha256", text, new Uint8Array(0), INFO, KEY_BYTES));
}

function sealOf(path: string, body: JsonObject, key: Uint8Array): string {
  const sealed = `${basename(path)}\n${JSON.stringify(body)}`;
  return createHmac("sha256", key).update(sealed).digest("hex");
}

function isSeal(
  path: string,
  seal: string,
  { body, key }: { readonly body: JsonObject; readonly key: Uint8Array },
): boolean {
  const [given, wanted] = [Buffer.from(seal), Buffer.from(sealOf(path, body, key))];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** For who has no log: it knows what it has seen. */
function memoryGuard(): StateGuard {
  let seen: FileState | undefined;
  return {
    counter: () => Promise.resolve(seen?.counter ?? 0),
    whyNot(state) {
      if (seen !== undefined && state.counter < seen.counter)
        return Promise.resolve(
          `it is an older one (save ${state.counter}) than this process has seen (save ${seen.counter})`,
        );
      seen = state;
      return Promise.resolve(undefined);
    },
    saved(state) {
      seen = state;
      return Promise.resolve();
    },
  };
}
