/**
 * Env sandbox: no sandbox. The agent gets variables that name the proxy, and nothing keeps it to
 * them. Level `none`, so that whoever starts one has said so, and the audit log says so too. What
 * is done all the same: root is dropped, privileges cannot be regained, children end with the
 * agent.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { SandboxReport } from "@acp/core";
import { chooseAgentUser } from "./agent-user.js";
import { type NativeHelper, nativeHelper } from "./native-helper.js";
import { withSpawn } from "./held.js";
import { makeOpenObstacle, makeOpenReport } from "./open-report.js";
import type { AgentUser, ConfinementOptions, LinuxSandbox, Session } from "./parts.js";
import { reopenWorkspace } from "./places.js";
import { refuseHome } from "./private-home.js";
import { makePrivate, holdSupervised, probeByStart, type SupervisedPlan } from "./supervised.js";
import { checkPlaces } from "./workspace.js";

/**
 * Makes the env sandbox. Its `spawn` and `probe` throw ConsentError `options_invalid` where the
 * options name a directory or a user that cannot be had.
 *
 * @param findHelper - For tests: how the native helper is found.
 */
export function createEnvSandbox(
  options: ConfinementOptions = {},
  findHelper: () => Promise<NativeHelper> = nativeHelper,
): LinuxSandbox {
  const plan = async (): Promise<SupervisedPlan> => {
    const helper = await findHelper();
    return planOpen({
      name: "env",
      options,
      helper,
      report: reportOf(helper),
      prefix: () => Promise.resolve([]),
    });
  };
  return withSpawn({
    name: "env",
    probe: async () => probeByStart(await plan(), (why) => makeOpenObstacle("env", why)),
    hold: async (argv, holdOptions) => holdSupervised(await plan(), argv, holdOptions),
  });
}

function reportOf(helper: NativeHelper): SandboxReport {
  const network = "a variable names the proxy; a program that ignores it connects without asking";
  return makeOpenReport({
    sandbox: "env",
    level: "none",
    reason: "variables only: nothing holds the agent",
    network,
    helper,
  });
}

/** What a plan without any rules is made of. */
export interface OpenPlanParts {
  readonly name: "preload" | "env";
  readonly options: ConfinementOptions;
  readonly helper: NativeHelper;
  readonly report: SandboxReport;
  /** Put before the agent's command line. */
  readonly prefix: (session: Session, port: number) => Promise<readonly string[]>;
}

/** A plan without any rules: the agent works as its user, in that user's own home. */
export function planOpen({ name, options, helper, report, prefix }: OpenPlanParts): SupervisedPlan {
  refuseHome(name, options);
  const { workspace } = checkPlaces(options);
  const user = chooseAgentUser(options);
  if (workspace !== undefined) reopenWorkspace(workspace, user);
  return {
    name,
    user,
    helper,
    caps: undefined,
    reachesProxy: true,
    report: () => report,
    ...(workspace !== undefined && { cwd: workspace.path }),
    setUp: async ({ session, port }) => ({
      home: isDirectory(user)
        ? user.home
        : await makePrivate(join(session.directory, "home"), user),
      env: {},
      confine: () => [],
      filter: undefined,
      prefix: await prefix(session, port),
    }),
  };
}

function isDirectory({ home }: AgentUser): boolean {
  return statSync(home, { throwIfNoEntry: false })?.isDirectory() === true;
}
