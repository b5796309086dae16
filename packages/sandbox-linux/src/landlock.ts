/**
 * Landlock sandbox: for hosts where no user namespace is to be had. An agent under a Landlock rule
 * for the proxy's port and for its files, and under a filter that leaves nothing but plain TCP.
 * Level `partial`: the rule names a port, not a host. Why:
 * docs/adr/0072-landlock-is-called-partial.md.
 */
import { readlinkSync } from "node:fs";
import { join } from "node:path";
import { isatty } from "node:tty";
import { ConsentError } from "@acp/core";
import { chooseAgentUser } from "./agent-user.js";
import { makeLandlockObstacle, makeLandlockReport } from "./landlock-report.js";
import { withSpawn } from "./held.js";
import { makeLandlockRules, shownHidden } from "./landlock-rules.js";
import type { Obstacle } from "./namespace-host.js";
import { codePlaces } from "./helper-directory.js";
import { type NativeHelper, nativeHelper } from "./native-helper.js";
import type { AgentUser, ConfinementOptions, LinuxSandbox, ResourceCaps } from "./parts.js";
import { openPlaces } from "./places.js";
import { mountedHome, refuseCovered, reopenAll } from "./private-home.js";
import { parseCaps, rlimitsOf } from "./resource-caps.js";
import { makeSeccompFilter, seccompArch } from "./seccomp.js";
import {
  makePrivate,
  holdSupervised,
  probeByStart,
  type SupervisedPlan,
  type SupervisedSetup,
} from "./supervised.js";
import { standardStreams, type StandardStreams } from "./standard-streams.js";
import { limitOptions, limitsItem } from "./supervised-limits.js";
import { PLACES_FD } from "./supervised-child.js";
import { checkPlaces, shownPlaces, type VisiblePlaces } from "./workspace.js";

/** Options of {@link createLandlockSandbox}. */
export interface LandlockOptions extends ConfinementOptions {
  /**
   * `none`: no internet sockets at all, not even to the proxy, for an agent that uses standard
   * input and output. `proxy` unless given.
   */
  readonly network?: "proxy" | "none";
}

interface Preparation {
  readonly helper: Extract<NativeHelper, { readonly isAvailable: true }>;
  readonly user: AgentUser;
  readonly places: VisiblePlaces;
  readonly caps: ResourceCaps;
  readonly network: "proxy" | "none";
  readonly filter: Uint8Array;
}

/** Landlock's first version with rules for TCP, and with any rules. */
const ABI_TCP = 4;
const ABI_FIRST = 1;

/**
 * Makes the Landlock sandbox. Its `spawn` and `probe` throw ConsentError `options_invalid` where
 * the options name a directory, a user or a cap that cannot be had.
 *
 * @param findHelper - For tests: how the native helper is found.
 */
export function createLandlockSandbox(
  options: LandlockOptions = {},
  findHelper: () => Promise<NativeHelper> = nativeHelper,
): LinuxSandbox {
  return withSpawn({
    name: "landlock",
    probe: async () => {
      const prepared = await prepare(options, findHelper);
      if ("reason" in prepared) return makeLandlockObstacle(prepared);
      return probeByStart(planOf(prepared, []), makeLandlockObstacle);
    },
    hold: async (argv, holdOptions) => {
      const prepared = await prepare(options, findHelper);
      if ("reason" in prepared) {
        throw new ConsentError(
          "sandbox_unavailable",
          `Cannot start an agent in "landlock": ${prepared.reason}; ${prepared.fix}`,
        );
      }
      return holdSupervised(
        planOf(prepared, sharedTerminals(standardStreams(holdOptions))),
        argv,
        holdOptions,
      );
    },
  });
}

/** Everything that is known before anything is started, or why nothing can be. */
async function prepare(
  options: LandlockOptions,
  findHelper: () => Promise<NativeHelper>,
): Promise<Preparation | Obstacle> {
  const { network = "proxy", hidden = [], unixSockets = "none" } = options;
  refuseCovered("landlock", options);
  // An agent that could write the helper would choose what the next one is held by.
  const places = checkPlaces({ ...options, hidden: [...hidden, ...codePlaces()] });
  const [caps, user, arch] = [parseCaps(options.caps), chooseAgentUser(options), seccompArch()];
  if (user.uid === 0)
    return { reason: "the manager is root in name only", fix: "Name another user for the agent" };
  reopenAll(places, user);
  if (places.packages !== undefined && process.getuid?.() !== user.uid) {
    return {
      reason: "its user may not enter the directories above packages of root's",
      fix: "Use the namespace sandbox",
    };
  }
  if (arch === undefined)
    return {
      reason: `there is no system call filter for "${process.arch}"`,
      fix: "Use a machine with x64 or arm64",
    };
  if (unixSockets !== "none") {
    return {
      reason: "Unix sockets were asked for, and those of the host would be in reach",
      fix: "Do not ask for them, or use the namespace sandbox",
    };
  }
  const clash = shownHidden(places);
  if (clash !== undefined) {
    return {
      reason: `"${clash[0]}" must stay hidden and lies in "${clash[1]}", which every agent can read`,
      fix: "Move it, or use the namespace sandbox",
    };
  }
  const helper = await findHelper();
  if (!helper.isAvailable) return helper;
  const obstacle = kernelObstacle(helper.landlockAbi, network);
  if (obstacle !== undefined) return obstacle;
  return {
    helper,
    user,
    places,
    caps,
    network,
    filter: makeSeccompFilter({
      arch,
      network: network === "proxy" ? "strict" : "none",
      unixSockets,
    }),
  };
}

function kernelObstacle(landlockAbi: number, network: "proxy" | "none"): Obstacle | undefined {
  if (landlockAbi >= (network === "proxy" ? ABI_TCP : ABI_FIRST)) return undefined;
  return {
    reason:
      landlockAbi === 0
        ? "there is no Landlock in this kernel"
        : "Landlock in this kernel has no rules for TCP",
    fix: "Use Linux 6.7 or later, with landlock among its security modules (lsm=)",
  };
}

function planOf(prepared: Preparation, terminals: readonly string[]): SupervisedPlan {
  const { helper, user, places, caps, network } = prepared;
  return {
    name: "landlock",
    user,
    helper,
    caps,
    reachesProxy: network === "proxy",
    ...(places.workspace !== undefined && { cwd: places.workspace.path }),
    report: (groups) =>
      makeLandlockReport({
        network,
        landlockAbi: helper.landlockAbi,
        caps: limitsItem({ caps, groups }),
      }),
    setUp: (around) => setUp(prepared, terminals, around),
  };
}

/** Opens what the agent is shown, and makes the rules that name it by its descriptors. */
async function setUp(
  { user, places, caps, network, filter }: Preparation,
  terminals: readonly string[],
  { session, port, groups }: Parameters<SupervisedPlan["setUp"]>[0],
): Promise<SupervisedSetup> {
  const given = places.home;
  const isMounted = given !== undefined && process.getuid?.() !== user.uid;
  const home =
    given === undefined || isMounted
      ? await makePrivate(join(session.directory, "home"), user)
      : given;
  const temporary = await makePrivate(join(session.directory, "tmp"), user);
  const packages = places.packages === undefined ? [] : [places.packages];
  const open = openPlaces({
    shown: shownPlaces(places),
    own: [session.inside, temporary, given ?? home, ...packages],
    hidden: places.hidden,
  });
  const sourceOf = (path: string): string => {
    const named = path === home && given !== undefined ? given : path;
    const at = open.all.findIndex((each) => each.path === named);
    return at === -1 ? path : `/proc/self/fd/${PLACES_FD + at}`;
  };
  return {
    home,
    ...(given !== undefined && isMounted && { outside: mountedHome(given, home) }),
    expected: open.all.map((each) => (each.path === given ? { ...each, path: home } : each)),
    env: { TMPDIR: temporary },
    prefix: [],
    filter,
    open,
    confine: (environment) => [
      ...makeLandlockRules({
        places,
        readable: [session.inside, environment],
        own: [home, temporary],
        terminals,
        sourceOf,
      }),
      "--connect",
      network === "proxy" ? `${port}` : "0",
      ...limitOptions(groups === undefined ? caps : rlimitsOf(caps, groups), user),
    ],
  };
}

/**
 * Terminals that the agent gets with our standard streams: under their own names they are nothing
 * more.
 */
function sharedTerminals(streams: StandardStreams): readonly string[] {
  const names = [0, 1, 2]
    .filter((fd) => streams[fd] === "inherit" && isatty(fd))
    .map((fd) => readlinkSync(`/proc/self/fd/${fd}`));
  return names.length === 0 ? [] : [...new Set([...names, "/dev/tty"])];
}
