/**
 * Home gates: what a resident holds open of its home for all of its clients: the keys, and for each
 * configuration the log, the channels and their approve socket. Each client gets a gate of its own
 * on them, with its own directory, environment, policy and stores.
 */
import { asError, isConsentError, memoryStore } from "@acp/core";
import type { Limits, PendingRecord } from "@acp/core";
import { machineClock, openHome } from "@acp/home";
import type { CommandServer, UpstreamServer } from "@acp/home";
import type { LocalUpstream } from "@acp/proxy-mcp";
import { tellClient } from "../commands/mcp.js";
import type { GatesOfHome } from "../commands/mcp.js";
import type { Invocation, Io } from "../command.js";
import { chooseServers, readHomeConfig } from "../gate/config.js";
import type { HomeConfig } from "../gate/config.js";
import type { Share } from "./budgets.js";
import type { ClientCalls } from "./calls.js";
import { createConfigurations, ownParts } from "./configurations.js";
import type { Base, Configurations } from "./configurations.js";
import { sessionGate } from "./session-gate.js";
import { createHooks } from "./hooks.js";
import type { Hooks } from "./hooks.js";
import type { Lock } from "./lock.js";
import { createLockedDenials } from "./locked-denials.js";
import type { LockedDenials } from "./locked-denials.js";
import { lockedWait, needsPassphrase, rebuildingWait, serveLocked } from "./locked.js";
import type { ServeLocked } from "./locked.js";
import type { IndexRebuild } from "../logs/index-rebuild.js";
import type { Peers } from "./peers.js";
import type { Servers } from "./servers.js";
import type { SharedServers } from "./shared-servers.js";
import { openHomeKeys, renewHomeKeys } from "../gate/home-keys.js";
import type { HomeKeys } from "../gate/home-keys.js";
import { openHomeStore } from "../gate/home-store.js";
import { isHookQuestion } from "../hook/gate.js";
import { heedGuard, openNotices, recordKeyOf, sayIgnored } from "../gate/shared-gate.js";
import type { WithGateParts } from "../gate/shared-gate.js";
import type { ServersDesk } from "../servers/live-servers.js";
import { ownHomePath } from "../home/home-source.js";
import { withGateOf } from "../gate/with-gate.js";
import type { GateInUse } from "../gate/with-gate.js";

/** The gates of a home. */
export interface HomeGates extends AsyncDisposable {
  /** What one session gets. */
  of(session: SessionOfGates): GatesOfHome;
  /** What hooks get. */
  readonly hooks: Hooks;
  /**
   * Opens what the home's own configuration says, so that approvers attach before somebody asks.
   * Where it does not open, the first client is told why.
   */
  warm(): Promise<void>;
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
  /** Where the names of the servers that the session starts are told. */
  readonly desk: ServersDesk;
  /** Ends the session; its client opens another one at once. */
  leave(how: "again"): void;
  /** Answers its client while there is no gate; as an MCP client unless given. */
  readonly serveLocked?: ServeLocked;
  /** The servers that it starts; those of an MCP client unless given. */
  readonly serversOf?: (source: HomeConfig) => readonly UpstreamServer[];
}

/** What the gates of a resident come with. */
export interface HomeGatesParts {
  readonly lock: Pick<Lock, "keys">;
  /** Says whether anything may be opened. */
  readonly rebuild: Pick<IndexRebuild, "check" | "percent" | "whole">;
  readonly servers: Servers;
  readonly peers: Pick<Peers, "admits">;
  readonly shared: SharedServers;
}

/** Creates them; nothing is open yet. */
export function createHomeGates(own: Invocation, parts: HomeGatesParts): HomeGates {
  const { lock, rebuild, peers } = parts;
  const locked = createLockedDenials("While the key was locked");
  const rebuilding = createLockedDenials("While the index of the audit logs was being rebuilt");
  const denials: Denials = { locked: locked.count, rebuilding: rebuilding.count };
  // Rates and numbers of questions hold for all clients together.
  const { limits } = memoryStore(machineClock);
  const configurations = createConfigurations(own, {
    admits: peers.admits,
    onOpen({ notices }) {
      const texts = { denied_while_locked: locked, denied_while_rebuilding: rebuilding };
      for (const notice of NOTICES) {
        const text = texts[notice].take();
        if (text !== undefined) notices.tell(notice, text);
      }
    },
  });
  let opened: Promise<HomeKeys> | undefined;
  const keys: GatesOfHome["keys"] = async (at, asked) => {
    await rebuild.check();
    const typed = lock.keys();
    if (typed !== undefined) return renewHomeKeys(at, typed);
    opened = openKeysOnce(opened, () => openHomeKeys(at, asked));
    return renewHomeKeys(at, await opened);
  };
  const hooks = createHooks(own, {
    keys,
    withGate: (forGate, use) =>
      configurations.useNow(forGate, (base) => withSessionGate(base, forGate, { limits, use })),
  });
  let warming: Promise<void> = Promise.resolve();
  const close = async (ended: Promise<unknown>): Promise<void> => {
    const all = ended.then(async () => {
      await warming;
      await hooks.close();
      opened = undefined;
    });
    await configurations.close(all);
  };
  return {
    hooks,
    warm: () => (warming = warming.then(() => warm(own, keys, configurations))),
    of: (session) => ({
      keys,
      ...ofSession(session, { ...parts, denials, configurations, limits }),
    }),
    attached: configurations.attached,
    close,
    [Symbol.asyncDispose]: () => close(Promise.resolve()),
  };
}

const NOTICES = ["denied_while_locked", "denied_while_rebuilding"] as const;

/** Counts the denials of each time without a log. */
type Denials = Readonly<Record<"locked" | "rebuilding", LockedDenials["count"]>>;

interface OfSessionParts extends HomeGatesParts {
  readonly denials: Denials;
  readonly configurations: Configurations;
  readonly limits: Limits;
}

function ofSession(
  { invocation, share, calls, onLocked, desk, leave, ...session }: SessionOfGates,
  { rebuild, servers, shared, denials, configurations, limits }: OfSessionParts,
): Omit<GatesOfHome, "keys"> {
  let masker: HomeKeys["masker"];
  const answer = session.serveLocked ?? serveLocked;
  return {
    roomOf: share.roomOf,
    desk,
    shares: true,
    around: (gate) => sessionGate(gate, { roomOf: share.roomOf, calls }),
    ...(calls !== undefined && { callOf: calls.callOf }),
    outside: (server) =>
      server.shared === true
        ? shared.of(server, masker)
        : { ...outsideOf(server, invocation.io), onStart: servers.note, diesWithProxy: true },
    async tellClient(error, asked, signal) {
      share.started();
      if (isConsentError(error, "index_rebuilding")) {
        void leaveAfter(rebuild.whole, leave);
        return answer(asked, rebuildingWait(rebuild, denials.rebuilding), signal);
      }
      if (!isConsentError(error, "key_locked") || !(await needsPassphrase(asked)))
        return session.serveLocked === undefined ? tellClient(error, asked, signal) : undefined;
      onLocked();
      await answer(asked, lockedWait(asked, denials.locked), signal);
    },
    withGate: (parts, use) =>
      configurations.use(parts, (base) => {
        ({ masker } = parts.homeKeys);
        if (parts.ways.includes("mcp")) {
          const all =
            session.serversOf?.(parts.source) ?? chooseServers(parts.source, parts.invocation);
          desk.onServers(all.map(({ name }) => name));
        }
        return withSessionGate(
          base,
          { ...parts, questionRoom: share.questionRoom },
          { share, client: calls?.client, limits, use },
        );
      }),
  };
}

async function leaveAfter(whole: Promise<void>, leave: SessionOfGates["leave"]): Promise<void> {
  await whole;
  leave("again");
}

/** Opens the home's own configuration. Never rejects. */
async function warm(
  own: Invocation,
  keys: GatesOfHome["keys"],
  configurations: Configurations,
): Promise<void> {
  try {
    const home = await openHome(ownHomePath(own));
    const source = await readHomeConfig(home, own);
    await configurations.useNow(
      { ...ownParts(own), home, source, homeKeys: await keys(home, own) },
      () => Promise.resolve(),
    );
  } catch (error) {
    own.print.notice(`Nothing is open yet: ${asError(error).message}`);
  }
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

/** Hooks have a gate of their own, whichever agent they are of. */
const isQuestionOf =
  (agentId: string) =>
  (record: PendingRecord): boolean =>
    record.agentId === agentId && !isHookQuestion(record);

interface SessionUse<T> {
  readonly limits: Limits;
  /** What the session may take; a hook has no share. */
  readonly share?: Share;
  /** Who asked, for what a dead resident left open; undefined where nobody can tell. */
  readonly client?: string | undefined;
  readonly use: (inUse: GateInUse) => Promise<T>;
}

async function withSessionGate<T>(
  base: Base,
  parts: WithGateParts,
  { share, client, limits, use }: SessionUse<T>,
): Promise<T> {
  // Those of now: the keys may be others than when the resident began.
  const recordKey = await recordKeyOf(parts.home, parts.homeKeys);
  const { noted } = parts.homeKeys;
  await using opened = await openHomeStore(parts.home, recordKey, { noted });
  using own = base.leftQuestions.withOwn(opened.store.pending, {
    client,
    isOwn: parts.isOwnQuestion ?? isQuestionOf(parts.agentId),
  });
  const kept = { ...opened, store: { ...opened.store, pending: own.store, limits } };
  const { notices, isolation } = await openNotices(parts, base.audit);
  sayIgnored(notices, kept);
  heedGuard(kept.guard, base.audit, notices);
  if (parts.homeKeys.guard !== undefined) heedGuard(parts.homeKeys.guard, base.audit, notices);
  share?.onFull((why) => notices.tell("client_limited", `Calls are denied for now: ${why}`));
  const sink = share?.counted(base.sink, parts.source.config?.audit?.keepBytes) ?? base.sink;
  share?.started();
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
