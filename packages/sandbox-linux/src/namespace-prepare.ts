/**
 * Namespace preparation: everything that is known before anything is started, or why nothing can
 * be.
 */
import { ConsentError } from "@acp/core";
import { chooseAgentUser } from "./agent-user.js";
import {
  findNamespaceHost,
  firstUnreadable,
  type NamespaceHost,
  type Obstacle,
} from "./namespace-host.js";
import { nodeInside } from "./namespace-node.js";
import {
  holdHelper,
  type InitHelper,
  type NativeHelperOptions,
  overlayHelper,
} from "./native-helper.js";
import type { AgentUser, ConfinementOptions, ResourceCaps } from "./parts.js";
import { reopenAll } from "./private-home.js";
import { parseCaps } from "./resource-caps.js";
import { makeSeccompFilter, seccompArch } from "./seccomp.js";
import { guardAll, type WorkspaceGuard } from "./workspace-guard.js";
import { checkPlaces, shownPlaces, socketsIn, type VisiblePlaces } from "./workspace.js";

/** What is known. */
export interface NamespacePreparation {
  readonly host: NamespaceHost;
  readonly user: AgentUser;
  readonly places: VisiblePlaces;
  readonly guard: WorkspaceGuard;
  /** Sockets of the host in what the agent sees; looked for only where it may use them. */
  readonly sockets: readonly string[];
  readonly unixSockets: "none" | "private";
  readonly caps: ResourceCaps;
  readonly filter: Uint8Array;
  readonly node: string;
  readonly init: InitHelper;
  /** native/hold.c; not looked for where nothing is held. */
  readonly hold: InitHelper;
  /** native/overlay.c, where the workspace is an overlay, the agent's own or that of another. */
  readonly overlay: string | undefined;
  readonly isOffline: boolean;
}

/** Options of {@link createNamespaceSandbox}. */
export interface NamespaceOptions extends ConfinementOptions {
  /** `none`: nothing listens on the proxy's port when the command begins. `proxy` unless given. */
  readonly network?: "proxy" | "none";
}

const NOT_NEEDED: InitHelper = { isAvailable: false, reason: "nothing is held", fix: "" };

/** How the first process of the namespace is found. */
export type FindInit = (options: Pick<NativeHelperOptions, "mayRecall">) => Promise<InitHelper>;

/**
 * Checks the options and the host.
 *
 * @param look - Whether what worked here before is taken to work again, and how the first process
 *   is found.
 * @throws ConsentError `options_invalid` where the options name a directory, a user or a cap that
 *   cannot be had.
 */
export async function prepareNamespace(
  options: NamespaceOptions,
  { findInit, mayRecall }: { readonly findInit: FindInit; readonly mayRecall: boolean },
): Promise<NamespacePreparation | Obstacle> {
  const { unixSockets = "none", network = "proxy" } = options;
  const [caps, places, user, arch] = [
    parseCaps(options.caps),
    checkPlaces(options, true),
    chooseAgentUser(options),
    seccompArch(),
  ];
  if (user.uid === 0)
    return { reason: "the manager is root in name only", fix: "Name another user for the agent" };
  if (arch === undefined)
    return {
      reason: `there is no system call filter for "${process.arch}"`,
      fix: "Use a machine with x64 or arm64",
    };
  const host = await findNamespaceHost(user, { mayRecall });
  if ("reason" in host) return host;
  const node = nodeInside();
  reopenAll(places, user);
  const guard = await guardReadable({ host, user, places, node });
  if ("reason" in guard) return guard;
  const sockets =
    unixSockets === "none"
      ? []
      : (await Promise.all(shownPlaces(places).map((path) => socketsIn(path)))).flat();
  const [init, filter] = [
    await findInit({ mayRecall }),
    makeSeccompFilter({ arch, network: "namespace", unixSockets }),
  ];
  const overlay =
    places.workspace?.access === "overlay" || places.view !== undefined
      ? await overlayHelper({ mayRecall })
      : undefined;
  if (overlay?.isAvailable === false) return overlay;
  // It closes what the agent must not have of the overlay.
  if (overlay !== undefined && !init.isAvailable) return init;
  // Without it what a person replaces ends the agent, which is no reason not to start it.
  const hold = guard.readOnly.length === 0 ? NOT_NEEDED : await holdHelper({ mayRecall });
  const known = { host, user, places, guard, sockets, unixSockets, caps, node, init, hold, filter };
  return { ...known, isOffline: network === "none", overlay: overlay?.path };
}

/**
 * Finds what is guarded, while another process looks whether the agent's user may enter what it is
 * to be shown.
 */
async function guardReadable({
  host,
  user,
  places,
  node,
}: Pick<NamespacePreparation, "host" | "user" | "places" | "node">): Promise<
  WorkspaceGuard | Obstacle
> {
  const looksAgain = firstUnreadable(host, user, [...shownPlaces(places), node]);
  const guard = guardAll(places, user);
  const unreadable = await looksAgain;
  if (unreadable === undefined) return guard;
  if (unreadable === node) {
    const fix = "Run the manager with a Node that everybody may read, such as the distribution's";
    return { reason: `user ${user.name} may not read node ("${node}")`, fix };
  }
  throw new ConsentError(
    "options_invalid",
    `Cannot show "${unreadable}" to an agent: its user ${user.name} may not enter it`,
  );
}
