/**
 * AttachAll: one client of every gate whose socket lies in a directory, and of those that come
 * later.
 */
import { setMaxListeners } from "node:events";
import { statSync, watch } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  type Clock,
  type ConsentError,
  type PausedEnd,
  isConsentError,
  refuseAnswer,
  systemClock,
} from "@acp/core";
import type { GateClient, OpenQuestion, QuestionChange } from "./approver-client.js";
import { attachApprover } from "./attach.js";
import { createFeed } from "./feed.js";
import type { ClientRole } from "./wire.js";

/** How often the directory is looked at for new gates where it cannot be watched. */
const LOOK_EVERY_MS = 1_000;
/** The same where it is watched: some file systems tell of nothing. */
const LOOK_ALSO_EVERY_MS = 5_000;
/** After this a gate whose connection was lost is tried again: it may have cut a slow client off. */
const LOST_LOOK_MS = 50;

/** Options of {@link attachApprovers}. */
export interface AttachAllOptions {
  /** Directory with one socket per gate, `<pid>.sock`. */
  readonly directory: string;
  /** Detaches from every gate. */
  readonly signal: AbortSignal;
  /** `viewer` sees questions and cannot answer. Default: `approver`. */
  readonly role?: ClientRole;
  /** Called once for each socket whose gate does not answer as expected. */
  readonly warn?: (error: ConsentError) => void;
  /** Default: the system's clock. */
  readonly clock?: Clock;
}

/** A client of several gates. */
export interface ApproverClients extends GateClient {
  /** How many gates are attached. */
  gates(): number;
}

async function socketsIn(directory: string): Promise<readonly string[]> {
  try {
    return (await readdir(directory))
      .filter((name) => name.endsWith(".sock"))
      .map((name) => join(directory, name));
  } catch {
    return []; // The first gate makes the directory.
  }
}

interface Gates {
  readonly options: AttachAllOptions;
  readonly clients: Map<string, GateClient>;
  /** Sockets that are being tried; true where something changed since then. */
  readonly trying: Map<string, boolean>;
  readonly warned: Set<string>;
  readonly push: (change: QuestionChange) => void;
}

function pendingOf(gates: Gates): readonly OpenQuestion[] {
  return [...gates.clients.values()]
    .flatMap((client) => client.pending())
    .toSorted((one, other) => one.request.createdAtMs - other.request.createdAtMs);
}

/**
 * Hands a gate's changes on until the connection is lost; what becomes of its questions then is not
 * known here.
 */
async function follow(gates: Gates, path: string, client: GateClient): Promise<void> {
  const changes = client.changes[Symbol.asyncIterator]();
  gates.clients.set(path, client);
  for (const question of client.pending()) gates.push({ type: "open", question });
  for (let next = await changes.next(); next.done !== true; next = await changes.next())
    gates.push(next.value);
  gates.clients.delete(path);
  const { signal, clock = systemClock } = gates.options;
  clock.sleep(LOST_LOOK_MS, { signal, background: true }).then(
    () => look(gates),
    () => undefined,
  );
  for (const { request } of client.pending()) gates.push({ type: "lost", id: request.id });
}

function isNobodyThere(cause: unknown): boolean {
  return (
    cause instanceof Error &&
    "code" in cause &&
    (cause.code === "ECONNREFUSED" || cause.code === "ENOENT")
  );
}

async function attachTo(gates: Gates, path: string): Promise<void> {
  const { signal, role, clock, warn } = gates.options;
  try {
    const client = await attachApprover({
      socketPath: path,
      signal,
      ...(role === undefined ? {} : { role }),
      ...(clock === undefined ? {} : { clock }),
    });
    gates.warned.delete(path);
    void follow(gates, path, client);
  } catch (error) {
    // A socket that a dead process left is no news; one that answers wrongly is, once.
    if (
      !isConsentError(error, "channel_failed") ||
      isNobodyThere(error.cause) ||
      gates.warned.has(path)
    )
      return;
    gates.warned.add(path);
    warn?.(error);
  }
}

async function look(gates: Gates): Promise<void> {
  const paths = (await socketsIn(gates.options.directory)).filter(
    (path) => !gates.clients.has(path),
  );
  await Promise.all(paths.map((path) => tryOnce(gates, path)));
}

/**
 * Tries a socket; once more where something changed meanwhile: it may have been tried between its
 * making and its first answer.
 */
async function tryOnce(gates: Gates, path: string): Promise<void> {
  const { clients, trying, options } = gates;
  if (trying.has(path)) return void trying.set(path, true);
  for (let isChanged = true; isChanged && !clients.has(path) && !options.signal.aborted; ) {
    trying.set(path, false);
    await attachTo(gates, path);
    isChanged = trying.get(path) === true;
  }
  trying.delete(path);
}

/** Which folder is watched; it may be removed and made again. */
function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/**
 * Looks whenever something changes in the directory, until the signal comes or another directory has
 * its name. Where there is none yet, the one above tells when it is made.
 *
 * @returns Whether it is still watched; undefined where it cannot be.
 */
function watchDirectory(gates: Gates): (() => boolean) | undefined {
  const { directory, signal } = gates.options;
  const inode = inodeOf(directory);
  const isAbove = inode === undefined;
  let isOver = false;
  let next: (() => boolean) | undefined;
  const end = (): void => void (isOver = true);
  try {
    const path = isAbove ? dirname(directory) : directory;
    const watcher = watch(path, { persistent: false, signal });
    watcher.on("error", end).on("close", end);
    watcher.on("change", (_, name) => {
      if (isAbove && name !== null && String(name) !== basename(directory)) return;
      if (isAbove && inodeOf(directory) !== undefined) {
        watcher.close();
        next = watchDirectory(gates);
      }
      void look(gates);
    });
  } catch {
    return undefined;
  }
  // What came between is seen by the look that follows.
  return () => next?.() ?? (!isOver && inodeOf(directory) === inode);
}

/** Looks for new gates until the signal comes. Rejects with its reason. */
async function keepLooking(gates: Gates, clock: Clock): Promise<void> {
  const { signal } = gates.options;
  let isWatched: (() => boolean) | undefined;
  for (;;) {
    // First watched and then looked at: a gate that came between is seen.
    if (isWatched?.() !== true) isWatched = watchDirectory(gates);
    await look(gates);
    await clock.sleep(isWatched?.() === true ? LOOK_ALSO_EVERY_MS : LOOK_EVERY_MS, { signal });
  }
}

/**
 * Attaches to every gate in a directory and follows new ones. Resolves after the first look, even
 * if there is no gate.
 *
 * When the connection to a gate is lost, its questions are reported as `lost`, and as open again if
 * it is reached again.
 */
export async function attachApprovers(options: AttachAllOptions): Promise<ApproverClients> {
  const { signal, clock = systemClock } = options;
  const changes = createFeed<QuestionChange>();
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  // Each socket that is tried listens to it until it is known whether a gate is there: those of dead
  // ones are tried together.
  setMaxListeners(0, both);
  const gates: Gates = {
    options: { ...options, signal: both },
    clients: new Map(),
    trying: new Map(),
    warned: new Set(),
    push: (change) => changes.push(change),
  };
  await look(gates);
  void keepLooking(gates, clock).catch(() => changes.end());

  const close = async (): Promise<void> => {
    stop.abort();
    await Promise.all([...gates.clients.values()].map((client) => client.close()));
    changes.end();
  };
  return {
    pending: () => pendingOf(gates),
    changes,
    gates: () => gates.clients.size,
    async answer(claim) {
      const holder = [...gates.clients.values()].find((client) =>
        client.pending().some(({ request }) => request.id === claim["request_id"]),
      );
      return holder === undefined
        ? refuseAnswer("request_unknown", "no attached gate has this question open")
        : holder.answer(claim);
    },
    async endPaused() {
      const lost = (client: GateClient): PausedEnd => ({ ended: 0, left: client.pending().length });
      const ends = await Promise.all(
        [...gates.clients.values()].map((client) => client.endPaused().catch(() => lost(client))),
      );
      return {
        ended: ends.reduce((sum, { ended }) => sum + ended, 0),
        left: ends.reduce((sum, { left }) => sum + left, 0),
      };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
