/**
 * UID: the sandbox of S1 §2.2. An agent that runs as a system user of its own, held to the proxy's
 * port by nftables; no file system and no network of its own, so that its level is `uid`. What it
 * leaves open: uid-report.ts.
 */
import { ConsentError, isConsentError } from "@acp/core";
import type { SandboxReport } from "@acp/core";
import { withSpawn } from "./held.js";
import { requireLevel } from "./levels.js";
import { nativeHelper } from "./native-helper.js";
import type { NativeHelper } from "./native-helper.js";
import type { LinuxSandbox } from "./parts.js";
import { openUidNamespace } from "./uid-namespace.js";
import { prepareUid } from "./uid-prepare.js";
import type { UidGround, UidOptions } from "./uid-prepare.js";
import { refuseRunning } from "./uid-processes.js";
import { makeUidReport, makeUnavailableReport } from "./uid-report.js";
import { holdUid } from "./uid-start.js";

/** What a uid sandbox stands on besides the rules; less of it for tests. */
export interface UidFooting {
  readonly findHelper: () => Promise<NativeHelper>;
  /** See uid-routes.ts. */
  readonly hasRoutesClosed: boolean;
}

/**
 * Makes the sandbox. The manager has to be root, and the agent's user nobody that could be somebody
 * else.
 */
export function createUidSandbox(
  options: UidOptions,
  footing: Partial<UidFooting> = {},
): LinuxSandbox {
  const { findHelper = nativeHelper, hasRoutesClosed = true } = footing;
  return withSpawn({
    name: "uid",
    probe: async () => {
      try {
        const ground = await prepareUid(options, findHelper);
        await refuseRunning(ground.user);
        const namespace = await openUidNamespace([]);
        namespace.kill();
        await namespace.ended;
        return reportOf(options, ground);
      } catch (error) {
        if (!isConsentError(error)) throw error;
        const [reason = "", fix] = error.message.split("; ", 2);
        return makeUnavailableReport(reason, fix);
      }
    },
    hold: async (argv, holdOptions) => {
      if (argv.length === 0)
        throw new ConsentError("options_invalid", "Cannot start an agent: there is no command");
      const ground = await prepareUid(options, findHelper);
      const report = reportOf(options, ground);
      requireLevel(report, holdOptions.requiredLevel);
      return await holdUid({ argv, options, holdOptions, ground, report, hasRoutesClosed });
    },
  });
}

function reportOf(
  { dns = "closed", unixSockets = "none" }: UidOptions,
  { helper, filter, noCgroup }: UidGround,
): SandboxReport {
  const noFilter = filter === undefined ? whyNoFilter(helper) : undefined;
  return makeUidReport({ noFilter, noCgroup, dns, unixSockets });
}

function whyNoFilter(helper: NativeHelper): { readonly reason: string; readonly fix: string } {
  if (!helper.isAvailable) return { reason: helper.reason, fix: helper.fix };
  return {
    reason: `there is no filter for ${process.arch}`,
    fix: "use a machine with x64 or arm64",
  };
}
