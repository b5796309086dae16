/**
 * Home gates: what a resident holds open of its home for all of its clients: the keys, and for each
 * configuration the log, the channels and their approve socket. Each client gets a gate of its own
 * on them, with its own directory, environment, policy and stores.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createConsentGate, isConsentError } from "@acp/core";
import { machineClock, openRecordKey } from "@acp/home";
import type { CommandServer } from "@acp/home";
import type { LocalUpstream } from "@acp/proxy-mcp";
import { tellClient } from "../commands/mcp.js";
import type { GatesOfHome } from "../commands/mcp.js";
import type { Invocation, Io } from "../command.js";
import { chooseServers } from "../gate/config.js";
import type { Share } from "./budgets.js";
import type { ClientCalls } from "./calls.js";
import type { Lock } from "./lock.js";
import { createLockedDenials } from "./locked-denials.js";
import { lockedWait, needsPassphrase, rebuildingWait, serveLocked } from "./locked.js";
import type { IndexRebuild } from "../logs/index-rebuild.js";
import type { Servers } from "./servers.js";
import { isForwarded, loggedOf } from "../gate/forwarded.js";
import { openHomeKeys, renewHomeKeys } from "../gate/home-keys.js";
import type { HomeKeys } from "../gate/home-keys.js";
import { openHomeStore } from "../gate/home-store.js";
import { createLeftQuestions } from "../gate/left-questions.js";
import type { LeftQuestions } from "../gate/left-questions.js";
import { heedGuard, openNotices, sayIgnored, withSharedGate } from "../gate/shared-gate.js";
import type { SharedGate, WithGateParts } from "../gate/shared-gate.js";
import { withGateOf } from "../gate/with-gate.js";
import type { GateInUse } from "../gate/with-gate.js";

/** The gates of a home. */
export interface HomeGates extends AsyncDisposable {
  /** What one session gets. */
  of(session: SessionOfGates): GatesOfHome;
  /** How many approvers are attached. */
  attached(): number;
  /**
   * Closes all that is open and forgets the keys, once those who use them have ended; whoever comes
   * meanwhile waits.
   */
  close(ended: Promise<unknown>): Promise<void>;
}

/** What is one session's. */
export interface SessionOfGates {
  readonly invocation: Invocation;
  readonly share: Share;
  /** Its calls; undefined where the client gives them no ids. */
  readonly calls: ClientCalls | undefined;
  /** Called where the session has no gate because the key is locked. */
  onLocked(): void;
  /** Called with the names of the servers that the session starts. */
  onServers(names: readonly string[]): void;
  /** Ends the session; its client opens another one at once. */
  leave(how: "again"): void;
}

/** What the sessions of one configuration have in common. */
interface Base extends SharedGate {
  readonly leftQuestions: LeftQuestions;
}

/** What is open of one configuration. */
interface Opened {
  readonly shared: Promise<Base>;
  readonly closed: Promise<void>;
  close(): void;
  users: number;
}

/** What the gates of a resident come with. */
export interface HomeGatesParts {
  readonly lock: Pick<Lock, "keys">;
  /** Says whether anything may be opened. */
  readonly rebuild: Pick<IndexRebuild, "check" | "percent" | "whole">;
  readonly servers: Servers;
}

/** Creates them; nothing is open yet. */
export function createHomeGates(
  own: Invocation,
  { lock, rebuild, servers }: HomeGatesParts,
): HomeGates {
  const denials = createLockedDenials();
  const configurations = createConfigurations(own, ({ notices }) => {
    const text = denials.take();
    if (text !== undefined) notices.tell("denied_while_locked", text);
  });
  let keys: Promise<HomeKeys> | undefined;
  return {
    of: ({ invocation, share, calls, onLocked, onServers, leave }) => ({
      room: share.requestRoom,
      ...(calls !== undefined && { callOf: calls.callOf }),
      async keys(at, asked) {
        await rebuild.check();
        const typed = lock.keys();
        if (typed !== undefined) return renewHomeKeys(at, typed);
        keys = openKeysOnce(keys, () => openHomeKeys(at, asked));
        return renewHomeKeys(at, await keys);
      },
      outside: (server) => ({
        ...outsideOf(server, invocation.io),
        onStart: servers.note,
        diesWithProxy: true,
      }),
      async tellClient(error, asked, signal) {
        share.started();
        if (isConsentError(error, "index_rebuilding")) {
          void leaveAfter(rebuild.whole, leave);
          return serveLocked(asked, rebuildingWait(rebuild), signal);
        }
        if (!isConsentError(error, "key_locked") || !(await needsPassphrase(asked)))
          return tellClient(error, asked, signal);
        onLocked();
        await serveLocked(asked, lockedWait(asked, denials.count), signal);
      },
      withGate: (parts, use) =>
        configurations.use(parts, (base) => {
          onServers(chooseServers(parts.source, parts.invocation).map(({ name }) => name));
          return withSessionGate(
            base,
            { ...parts, questionRoom: share.questionRoom },
            { share, client: calls?.client, use },
          );
        }),
    }),
    attached: configurations.attached,
    close: (ended) =>
      configurations.close(
        ended.then(() => {
          keys = undefined;
        }),
      ),
    [Symbol.asyncDispose]: () => configurations.close(Promise.resolve()),
  };
}

async function leaveAfter(whole: Promise<void>, leave: SessionOfGates["leave"]): Promise<void> {
  await whole;
  leave("again");
}

/** What is open of each configuration. */
interface Configurations {
  use<T>(parts: WithGateParts, use: (base: Base) => Promise<T>): Promise<T>;
  attached(): number;
  close(ended: Promise<unknown>): Promise<void>;
}

function createConfigurations(
  own: Invocation,
  onOpen: (shared: SharedGate) => void,
): Configurations {
  const open = new Map<string, Opened>();
  const attachedAt = new Map<string, SharedGate>();
  let closing: Promise<unknown> = Promise.resolve();
  let count = 0;
  const shared = async (parts: WithGateParts): Promise<readonly [string, Opened]> => {
    // What is being closed keeps its log and its socket until then.
    await closing;
    const key = await keyOf(parts);
    const there = open.get(key);
    if (there !== undefined) return [key, there];
    // The first keeps the name that one gate of one process has.
    const name = count++ === 0 ? undefined : `${own.io.pid}-${count}.sock`;
    const opened = openShared({ ...parts, ...(name !== undefined && { socketName: name }) }, own);
    opened.shared.then(onOpen, () => open.delete(key));
    open.set(key, opened);
    return [key, opened];
  };
  return {
    async use(parts, use) {
      const [key, opened] = await shared(parts);
      opened.users++;
      try {
        const base = await opened.shared;
        attachedAt.set(key, base);
        return await use(base);
      } finally {
        opened.users--;
        // A configuration that nobody uses any more may have changed; the home's log stays open.
        if (opened.users === 0 && open.size > 1 && open.get(key) === opened) {
          open.delete(key);
          attachedAt.delete(key);
          opened.close();
          await opened.closed;
        }
      }
    },
    attached: () =>
      [...attachedAt.values()].reduce((sum, { attached }) => sum + (attached() ?? 0), 0),
    async close(ended) {
      closing = ended.then(async () => {
        const all = [...open.values()];
        open.clear();
        attachedAt.clear();
        count = 0;
        for (const each of all) each.close();
        await Promise.all(all.map(({ closed }) => closed));
      });
      await closing;
    },
  };
}

/**
 * Whoever could not open the keys, or found none, is no reason for the next one not to try.
 */
function openKeysOnce(
  before: Promise<HomeKeys> | undefined,
  open: () => Promise<HomeKeys>,
): Promise<HomeKeys> {
  if (before === undefined) return open();
  return before.then((held) => (held.keys === undefined ? open() : held), open);
}

/** The same text of the same file means the same, for users of the same home directory. */
async function keyOf({
  source: { file, config },
  invocation,
  homeKeys,
}: WithGateParts): Promise<string> {
  const text = config === undefined ? "" : await readFile(file, "utf8");
  const words = [file, invocation.io.userHome, text, homeKeys.keys !== undefined];
  return createHash("sha256").update(JSON.stringify(words)).digest("hex");
}

function openShared(parts: WithGateParts, own: Invocation): Opened {
  const { source, home, homeKeys, socketName } = parts;
  const done = deferred<void>();
  const ready = deferred<Base>();
  const closed = withSharedGate(
    {
      source,
      home,
      homeKeys,
      invocation: own,
      signal: own.io.onStop(),
      // Each client says how its own agent is held.
      host: { sharesUid: false },
      agentId: "resident",
      ways: [],
      ...(socketName !== undefined && { socketName }),
    },
    async (shared) => {
      const { left, store } = shared.kept;
      const leftQuestions = createLeftQuestions({
        left,
        store: store.pending,
        isForwarded: (ids) => isForwarded(home.dir, ids),
      });
      ready.resolve({ ...shared, leftQuestions });
      using _grace = endUnclaimedLater({ ...shared, leftQuestions }, home.dir);
      await done.promise;
    },
  ).catch((error: unknown) => ready.reject(error));
  return { shared: ready.promise, closed, close: () => done.resolve(), users: 0 };
}

/** How long a client has to come back for what it asked before its resident died. */
const GRACE_MS = 60_000;

/** Ends what no client came back for. */
function endUnclaimedLater(base: Base, home: string): Disposable {
  const { channel, sink: audit, recordKey, lastEventMs, kept, leftQuestions } = base;
  const end = async (): Promise<void> => {
    const pending = leftQuestions.unclaimed();
    const logged = await loggedOf(home, kept.store.pending);
    await using gate = createConsentGate({
      channel,
      audit,
      store: { ...kept.store, pending },
      clock: machineClock,
      recordKey,
      ...(lastEventMs !== undefined && { lastEventMs }),
    });
    await gate.resume({ ...logged, areCallersGone: true });
  };
  // A store or log that fails shows itself at the next call.
  const timer = setTimeout(() => void end().catch(() => undefined), GRACE_MS).unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

interface SessionUse<T> {
  readonly share: Share;
  readonly client: string | undefined;
  readonly use: (inUse: GateInUse) => Promise<T>;
}

async function withSessionGate<T>(
  base: Base,
  parts: WithGateParts,
  { share, client, use }: SessionUse<T>,
): Promise<T> {
  // Those of now: the keys may be others than when the resident began.
  const { ring, keys } = parts.homeKeys;
  const recordKey = ring?.recordKey() ?? (await openRecordKey(parts.home, keys));
  await using opened = await openHomeStore(parts.home, recordKey, parts.homeKeys.noted);
  const pending = base.leftQuestions.withOwn(opened.store.pending, client);
  const kept = { ...opened, store: { ...opened.store, pending } };
  const { notices, isolation } = await openNotices(parts, base.audit);
  sayIgnored(notices, kept);
  heedGuard(kept.guard, base.audit, notices);
  if (parts.homeKeys.guard !== undefined) heedGuard(parts.homeKeys.guard, base.audit, notices);
  share.onFull((why) => notices.tell("client_limited", `Calls are denied for now: ${why}`));
  const sink = share.counted(base.sink);
  share.started();
  return await withGateOf({ ...base, recordKey, kept, notices, isolation, sink }, parts, use);
}

/** A server starts with exactly what the client's own process would give it. */
function outsideOf(server: CommandServer, { env, cwd, umask }: Io): LocalUpstream {
  const own = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return {
    ...server,
    env: server.env ?? Object.fromEntries(own),
    cwd: server.cwd ?? cwd,
    ...(umask !== undefined && { umask }),
  };
}

interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

function deferred<T>(): Deferred<T> {
  let settle: Pick<Deferred<T>, "resolve" | "reject"> = {
    resolve: () => undefined,
    reject: () => undefined,
  };
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return {
    promise,
    resolve: (value) => settle.resolve(value),
    reject: (why) => settle.reject(why),
  };
}
