/**
 * UID prepare: whether rules on a uid can hold this agent here, found by trying: the very rules in
 * a network namespace that is thrown away.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { dirname } from "node:path";
import { ConsentError, quoteText } from "@acp/core";
import { chooseAgentUser } from "./agent-user.js";
import { findCgroupPlace } from "./cgroup-match.js";
import type { NativeHelper } from "./native-helper.js";
import { makeTableName, makeUidRules } from "./nft-rules.js";
import type { UidRules } from "./nft-rules.js";
import type { AgentUser, ConfinementOptions } from "./parts.js";
import { reopenWorkspace } from "./places.js";
import { refuseHome } from "./private-home.js";
import { makeSeccompFilter, seccompArch } from "./seccomp.js";
import { sessionsDirectory } from "./session.js";
import { requireTool, runTool } from "./tools.js";
import { checkAccess } from "./uid-access.js";
import { readUserFacts, refuseUser } from "./uid-checks.js";
import { checkPlaces } from "./workspace.js";
import type { VisiblePlaces } from "./workspace.js";

/** Options of {@link createUidSandbox}. */
export interface UidOptions extends ConfinementOptions {
  /** The agent's own system user, by name or uid; a start without it is refused. */
  readonly user?: string | number;
  /**
   * `system` lets the agent use the host's name servers (ACP v0.3 §2.2), through which anything can
   * leave. `closed` unless given.
   */
  readonly dns?: "closed" | "system";
  /** The proxy's port on 127.0.0.1; any free one unless given. */
  readonly port?: number;
  /** Called with the reason when the sandbox ended an agent, as one sentence without a period. */
  readonly onNotice?: (text: string) => void;
}

/** What was found, all of it good enough to start. */
export interface UidGround {
  readonly user: AgentUser;
  readonly places: VisiblePlaces;
  readonly nameServers: readonly string[];
  readonly helper: NativeHelper;
  /** The filter of system calls, where the helper can install it. */
  readonly filter: Uint8Array | undefined;
  /** Why the rules cannot name a cgroup, where they cannot. */
  readonly noCgroup: string | undefined;
}

/**
 * Finds it out.
 *
 * @throws ConsentError `sandbox_unavailable` or `options_invalid` with the fix.
 */
export async function prepareUid(
  options: UidOptions,
  findHelper: () => Promise<NativeHelper>,
): Promise<UidGround> {
  if (process.getuid?.() !== 0)
    throw unavailable(
      "only root can load the rules of a uid; start acp as root, and the agent as another user",
    );
  if (options.user === undefined)
    throw unavailable(
      "the agent needs a user of its own; create one, such as with useradd --system agent, and name it",
    );
  const user = chooseAgentUser(options);
  const refusal = refuseUser(user, await readUserFacts(user).catch(refuseUnknown));
  if (refusal !== undefined) throw unavailable(`${refusal.reason}; ${refusal.fix}`);
  refuseHome("uid", options);
  const places = checkPlaces(options);
  if (places.workspace !== undefined) reopenWorkspace(places.workspace, user);
  // The agent passes through the sessions' directory, to the files that are its own.
  await checkAccess(user, {
    ...places,
    hidden: places.hidden.filter((path) => path !== sessionsDirectory()),
  });
  const nameServers = options.dns === "system" ? await readNameServers() : [];
  const [noCgroup, helper] = await Promise.all([tryRules(user.uid, nameServers), findHelper()]);
  return { user, places, nameServers, helper, filter: makeFilter(options, helper), noCgroup };
}

/**
 * Without a network namespace only plain TCP clients; what was asked for beyond that is held by the
 * rules, or said to be open.
 */
function makeFilter(
  { dns, unixSockets = "none" }: UidOptions,
  helper: NativeHelper,
): Uint8Array | undefined {
  const arch = seccompArch();
  if (!helper.isAvailable || arch === undefined) return undefined;
  const network = dns === "system" || unixSockets === "private" ? "namespace" : "strict";
  return makeSeccompFilter({ arch, network, unixSockets });
}

function refuseUnknown(error: unknown): never {
  throw unavailable(`the user's groups cannot be found out: ${firstLine(error)}`);
}

/** Name servers as the C library reads them. */
async function readNameServers(): Promise<readonly string[]> {
  const text = await readFile("/etc/resolv.conf", "utf8").catch(() => "");
  const all = [...text.matchAll(/^nameserver\s+(\S+)/gmu)]
    .map(([, address = ""]) => address)
    .filter((address) => isIP(address) !== 0);
  if (all.length === 0)
    throw unavailable("/etc/resolv.conf names no server to open port 53 for; leave DNS closed");
  return all;
}

/**
 * Loads the rules where they hold nobody. Resolves to why they cannot name a cgroup, where only
 * that does not work.
 */
async function tryRules(uid: number, nameServers: readonly string[]): Promise<string | undefined> {
  const id = randomBytes(8).toString("hex");
  const rules: UidRules = {
    table: makeTableName(uid, id),
    uid,
    port: 1,
    nameServers,
    cgroup: undefined,
  };
  const place = await findCgroupPlace(id);
  if ("missing" in place) {
    await load(makeUidRules(rules));
    return place.missing;
  }
  try {
    const above = dirname(place.directory);
    await access(above, constants.W_OK);
    // Nothing is made, since a manager that is killed here would leave it: the one above is there.
    await load(
      makeUidRules({
        ...rules,
        cgroup: { path: dirname(place.name.path), level: place.name.level },
      }),
    );
    return undefined;
  } catch (error) {
    await load(makeUidRules(rules));
    return firstLine(error);
  }
}

async function load(rules: string): Promise<void> {
  const command = [requireTool("unshare"), "--net", "--", requireTool("nft"), "-f", "-"];
  const { code, stderr, failure = `exit code ${code}` } = await runTool(command, { input: rules });
  if (code === 0) return;
  throw unavailable(
    `nft does not load its rules: ${firstLine(stderr === "" ? failure : stderr)}; install nftables`,
  );
}

function firstLine(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return quoteText(text.trim().split("\n", 1).join("").slice(0, 300));
}

function unavailable(why: string): ConsentError {
  return new ConsentError("sandbox_unavailable", `Cannot hold an agent by its uid: ${why}`);
}
