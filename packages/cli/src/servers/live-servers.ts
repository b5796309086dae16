/**
 * Live servers: the servers of a gate that is in use, as the configuration changes. A text that does
 * not load, or that an agent could have written, changes nothing, and that is said. Rules:
 * spec/mcp-proxy.md §22.
 */
import { isDeepStrictEqual } from "node:util";
import { asError, escapeText } from "@acp/core";
import { watchText } from "@acp/home";
import type { Config, Home, UpstreamServer } from "@acp/home";
import type { ToolPins, UpstreamChange, UpstreamConfig } from "@acp/proxy-mcp";
import type { Invocation } from "../command.js";
import { failureOf } from "../failure.js";
import { chooseServers, openEnvironments, readHomeConfig } from "../gate/config.js";
import type { HomeConfig } from "../gate/config.js";
import { sayConfig } from "../gate/config-in-force.js";
import type { HomeKeys } from "../gate/home-keys.js";
import type { GateInUse } from "../gate/with-gate.js";
import { createHomePins, trustedIn } from "../pins/home-pins.js";
import { readInPlace } from "./config-place.js";
import type { OpenServers } from "./open-servers.js";

/** A configuration whose servers change. Whoever reads them later finds those of then. */
export interface LiveSource extends HomeConfig {
  /** Puts others in force. */
  setServers(servers: readonly UpstreamServer[]): void;
}

/** The configuration as it was read. */
export function liveSource(source: HomeConfig): LiveSource {
  let config: Config | undefined = source.config;
  return {
    ...source,
    get config() {
      return config;
    },
    setServers(servers) {
      config = config === undefined ? undefined : { ...config, servers };
    },
  };
}

/** What has servers started and ended for a client. */
export interface ServersInUse {
  change(next: UpstreamChange): Promise<unknown>;
  restart(names: readonly string[]): Promise<void>;
}

/** Where a client's servers are known, and told to restart. */
export interface ServersDesk {
  /** Their names, whenever they change. */
  onServers(names: readonly string[]): void;
  /** @param restart - Reads the configuration, and restarts one or all; gives their names. */
  onLive(restart: (name: string | undefined) => Promise<readonly string[]>): void;
}

/** Parts of {@link openLiveServers}. */
export interface LiveServersParts {
  readonly invocation: Invocation;
  readonly home: Home;
  readonly homeKeys: HomeKeys;
  readonly inUse: Pick<GateInUse, "notices" | "rollback">;
  readonly source: LiveSource;
  readonly signal: AbortSignal;
  /** With their variables opened. */
  readonly servers: readonly UpstreamServer[];
  /** Whether clients share the servers that say so. */
  readonly shares: boolean;
  open(servers: readonly UpstreamServer[]): Promise<OpenServers>;
  readonly desk?: ServersDesk | undefined;
}

/** Servers that follow their configuration. */
export interface LiveServers extends AsyncDisposable {
  readonly upstreams: readonly UpstreamConfig[];
  readonly pins: ToolPins;
  readonly trustedAnnotations: readonly string[];
  /** From now on changes reach them. */
  follow(inUse: ServersInUse): void;
  /** Ends starts that are under way, and lets nothing start any more. */
  endStarts(): void;
}

interface State extends LiveServersParts {
  /** As the client has them. */
  opened: ReadonlyMap<
    string,
    { readonly server: UpstreamServer; readonly upstream: UpstreamConfig }
  >;
  readonly all: OpenServers[];
  hash: string | undefined;
  isOver: boolean;
}

/**
 * Opens them.
 *
 * @throws ConsentError `config_invalid`, as servers are opened.
 */
export async function openLiveServers(parts: LiveServersParts): Promise<LiveServers> {
  const { servers, source, signal } = parts;
  const first = await parts.open(servers);
  const opened = new Map(first.upstreams.map((each, at) => [each.name, pair(servers[at], each)]));
  const state: State = { ...parts, opened, all: [first], hash: source.hash, isOver: false };
  const endStarts = (): void => {
    state.isOver = true;
    for (const each of state.all) each.endStarts();
  };
  signal.addEventListener("abort", endStarts);
  return {
    upstreams: first.upstreams,
    ...heldAgainst(state, servers),
    follow: (inUse) => follow(state, inUse),
    endStarts,
    async [Symbol.asyncDispose]() {
      state.isOver = true;
      for (const each of state.all) await each[Symbol.asyncDispose]();
    },
  };
}

function pair(
  server: UpstreamServer | undefined,
  upstream: UpstreamConfig,
): { readonly server: UpstreamServer; readonly upstream: UpstreamConfig } {
  if (server?.name !== upstream.name) throw new Error("the servers are others than were asked for");
  return { server, upstream };
}

function heldAgainst(
  { home, inUse }: Pick<State, "home" | "inUse">,
  servers: readonly UpstreamServer[],
): Pick<LiveServers, "pins" | "trustedAnnotations"> {
  const { rollback: guard, notices } = inUse;
  return {
    pins: createHomePins({ home, guard, servers, notices }),
    trustedAnnotations: trustedIn(servers),
  };
}

function follow(state: State, servers: ServersInUse): void {
  const { source, invocation, inUse, signal, desk } = state;
  let working: Promise<void> = Promise.resolve();
  const reload = (): Promise<void> =>
    (working = working.then(async () => {
      try {
        if (!state.isOver) await takeChange(state, servers);
      } catch (error) {
        if (state.isOver) return;
        const { code, message } = failureOf(error);
        inUse.notices.tell("servers_kept", `${message} [${code}]; the servers stay as they are`);
      }
    }));
  // Servers of the command line are in no file.
  const isFollowed = invocation.rest.length === 0 && source.config !== undefined;
  const watch = isFollowed
    ? watchText(source.file, {
        seen: "",
        // Also what was read at the start, which is nothing new then.
        onText: () => void reload(),
        signal,
      })
    : undefined;
  desk?.onLive(async (name) => {
    await watch?.refresh();
    if (watch !== undefined) await reload();
    const names = [...state.opened.keys()].filter((each) => name === undefined || each === name);
    // It may take as long as their calls do.
    servers
      .restart(names)
      .catch((error: unknown) => invocation.print.notice(asError(error).message));
    return names;
  });
}

/** Puts the servers of the file in force, if they are others. */
async function takeChange(state: State, servers: ServersInUse): Promise<void> {
  const { home, invocation, homeKeys, inUse, source } = state;
  const { file: path, config } = source;
  const place = { file: path, homeDir: home.dir, io: invocation.io, config };
  const { found, why } = await readInPlace(place, (real) => readHomeConfig(home, invocation, real));
  if (found.hash === state.hash) return;
  state.hash = found.hash;
  if (why !== undefined && found.config !== undefined)
    return inUse.notices.tell(
      "servers_kept",
      `${source.file} was changed, and is not read while clients are connected, because ${why}; it holds from when a client connects again`,
    );
  const written = chooseServers(found, invocation);
  const { file } = found;
  const {
    shares,
    invocation: { io },
  } = state;
  const next = await openEnvironments(written, { file, keys: homeKeys.keys, env: io.env, shares });
  const { fresh, changed, said } = differences(state, next);
  if (said.length === 0) return;
  const opened = await state.open(fresh);
  state.all.push(opened);
  if (state.isOver) return opened.endStarts();
  const text = `${file} has other servers now; this ${said.join(" and ")}`;
  await inUse.notices.log("servers_changed", text, { file });
  invocation.print.notice(text);
  await sayConfig(inUse.notices, home.dir, found);
  const started = new Map(opened.upstreams.map((each) => [each.name, each]));
  state.opened = new Map(
    next.map((server) => {
      const upstream = started.get(server.name) ?? state.opened.get(server.name)?.upstream;
      if (upstream === undefined) throw new Error("a server was not opened");
      return [server.name, { server, upstream }];
    }),
  );
  source.setServers(written);
  state.desk?.onServers(written.map(({ name }) => name));
  const upstreams = [...state.opened.values()].map(({ upstream }) => upstream);
  // A client that has not greeted yet is waited for, and the next change comes after this one.
  servers.change({ upstreams, changed, ...heldAgainst(state, written) }).then(
    (outcome) =>
      outcome === "later" &&
      invocation.print.notice("The change holds for this client from when it connects again"),
    (error: unknown) => invocation.print.notice(asError(error).message),
  );
}

/** What is new or changed, and how that is said. */
function differences(
  { opened }: State,
  next: readonly UpstreamServer[],
): {
  readonly fresh: readonly UpstreamServer[];
  readonly changed: readonly string[];
  readonly said: readonly string[];
} {
  const names = new Set(next.map(({ name }) => name));
  const added = next.filter(({ name }) => !opened.has(name));
  const others = next.filter((server) => {
    const before = opened.get(server.name)?.server;
    return before !== undefined && !isDeepStrictEqual(before, server);
  });
  const removed = [...opened.keys()].filter((name) => !names.has(name));
  const list = (what: string, all: readonly string[]): readonly string[] =>
    all.length === 0 ? [] : [`${what} ${all.map((name) => escapeText(name)).join(", ")}`];
  const nameOf = ({ name }: UpstreamServer): string => name;
  return {
    fresh: [...added, ...others],
    changed: others.map(nameOf),
    said: [
      ...list("adds", added.map(nameOf)),
      ...list("removes", removed),
      ...list("restarts", others.map(nameOf)),
    ],
  };
}
