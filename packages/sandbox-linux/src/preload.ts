/**
 * Preload sandbox: no barrier. proxychains4, a library that is loaded into the agent's programs,
 * leads their connections to the proxy, also those of programs that do not heed the proxy
 * variables. Static programs, direct system calls and a cleared environment go round it. Level
 * `advisory`.
 */
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConsentError, type SandboxReport } from "@acp/core";
import { planOpen } from "./env.js";
import { type NativeHelper, nativeHelper } from "./native-helper.js";
import { withSpawn } from "./held.js";
import { makeOpenObstacle, makeOpenReport } from "./open-report.js";
import type { ConfinementOptions, LinuxSandbox, Session } from "./parts.js";
import { probeByStart, holdSupervised, type SupervisedPlan } from "./supervised.js";
import { optionalTool } from "./tools.js";

/** How the programs that it is made of are found. */
export interface PreloadParts {
  readonly findHelper: () => Promise<NativeHelper>;
  readonly findRedirector: () => string | undefined;
}

const OBSTACLE = {
  reason: "proxychains4 is not installed",
  fix: "Install proxychains4 (package proxychains4), or use the namespace sandbox",
} as const;
/** A person may take minutes to answer before the proxy does. */
const ANSWER_MS = 900_000;

/**
 * Makes the preload sandbox. Its `spawn` and `probe` throw ConsentError `options_invalid` where the
 * options name a directory or a user that cannot be had.
 *
 * @param parts - For tests: where programs are.
 */
export function createPreloadSandbox(
  options: ConfinementOptions = {},
  parts: Partial<PreloadParts> = {},
): LinuxSandbox {
  const { findHelper = nativeHelper, findRedirector = () => optionalTool("proxychains4") } = parts;
  const plan = async (redirector: string): Promise<SupervisedPlan> => {
    const helper = await findHelper();
    const prefix = async (session: Session, port: number): Promise<readonly string[]> => {
      const path = join(session.inside, "proxychains.conf");
      await writeFile(path, makeProxychainsConfig(port), { flag: "wx" });
      await chmod(path, 0o644); // whatever the umask was
      return [redirector, "-q", "-f", path];
    };
    return planOpen({ name: "preload", options, helper, report: reportOf(helper), prefix });
  };
  return withSpawn({
    name: "preload",
    probe: async () => {
      const redirector = findRedirector();
      const obstacle = (why: { readonly reason: string; readonly fix: string }): SandboxReport =>
        makeOpenObstacle("preload", why);
      return redirector === undefined
        ? obstacle(OBSTACLE)
        : probeByStart(await plan(redirector), obstacle);
    },
    hold: async (argv, holdOptions) => {
      const redirector = findRedirector();
      if (redirector === undefined) {
        throw new ConsentError(
          "sandbox_unavailable",
          `Cannot start an agent in "preload": ${OBSTACLE.reason}; ${OBSTACLE.fix}`,
        );
      }
      return holdSupervised(await plan(redirector), argv, holdOptions);
    },
  });
}

/** Everything but the loopback goes through the proxy, names unresolved. */
export function makeProxychainsConfig(port: number): string {
  return `strict_chain
quiet_mode
proxy_dns
remote_dns_subnet 224
tcp_read_time_out ${ANSWER_MS}
tcp_connect_time_out ${ANSWER_MS}
localnet 127.0.0.0/255.0.0.0
localnet ::1/128
[ProxyList]
http 127.0.0.1 ${port}
`;
}

function reportOf(helper: NativeHelper): SandboxReport {
  return makeOpenReport({
    sandbox: "preload",
    level: "advisory",
    helper,
    reason: "a library leads programs to the proxy that do not resist; the kernel refuses nothing",
    network:
      "connections of programs that use libc are led to the proxy; static programs, direct system calls and a cleared environment go round it",
  });
}
