/**
 * Choose: the backends by their names, and the strongest that a host has. What is weaker than asked
 * for is never started.
 */
import type { Socket } from "node:net";
import {
  ConsentError,
  type Sandbox,
  type SandboxLevel,
  type SandboxReport,
  type SandboxSpawnOptions,
} from "@acp/core";
import { createEnvSandbox } from "./env.js";
import { createLandlockSandbox, type LandlockOptions } from "./landlock.js";
import { reachesLevel } from "./levels.js";
import { createNamespaceSandbox } from "./namespace.js";
import type { LinuxSandbox, LinuxSandboxedProcess, LinuxSandboxName } from "./parts.js";
import { createPreloadSandbox } from "./preload.js";
import { createUidSandbox } from "./uid.js";
import type { UidOptions } from "./uid-prepare.js";

/** Options of all backends; each reads those that it knows. */
export interface LinuxSandboxOptions extends UidOptions, LandlockOptions {}

/**
 * The strongest backend that works on this host, found at each start; its reports name the backend.
 */
export interface AutoSandbox extends Sandbox<Socket> {
  readonly name: "auto";
  /**
   * Starts a program with the strongest backend that works here, never below `requiredLevel` or,
   * unless given, `partial`.
   *
   * @throws ConsentError `sandbox_unavailable` if none does.
   */
  spawn(
    argv: readonly string[],
    options: SandboxSpawnOptions<Socket>,
  ): Promise<LinuxSandboxedProcess>;
}

const BACKENDS: Readonly<Record<LinuxSandboxName, (options: LinuxSandboxOptions) => LinuxSandbox>> =
  {
    namespace: createNamespaceSandbox,
    uid: createUidSandbox,
    landlock: createLandlockSandbox,
    preload: createPreloadSandbox,
    env: createEnvSandbox,
  };

/** Names of all backends, strongest first. */
export const LINUX_SANDBOXES: readonly LinuxSandboxName[] = [
  "namespace",
  "uid",
  "landlock",
  "preload",
  "env",
];

/**
 * Makes the backend of this name, or (`auto`) the strongest of those that are barriers:
 * `namespace`, then `uid` where a user is configured (it changes the host's own rules, which must
 * have been asked for), then `landlock`. `auto` never starts anything below level `partial`.
 *
 * @example
 * ```ts
 * import { createLinuxSandbox } from "@acp/sandbox-linux";
 *
 * const sandbox = createLinuxSandbox("namespace", {
 *   workspace: { path: "/home/ada/project", access: "read-write" },
 * });
 * const inside = await sandbox.spawn(["node", "agent.mjs"], {
 *   requiredLevel: "full", // or nothing starts
 *   onConnection: (socket) => proxy.attach(socket, { agent: { id: "my-agent" } }),
 *   env: ({ port }) => ({ PATH: "/usr/bin:/bin", HTTPS_PROXY: `http://127.0.0.1:${port}` }),
 * });
 * await inside.exited;
 * ```
 *
 * @throws ConsentError `options_invalid` where there is none of this name.
 */
export function createLinuxSandbox(
  kind: LinuxSandboxName,
  options?: LinuxSandboxOptions,
): LinuxSandbox;
export function createLinuxSandbox(kind: "auto", options?: LinuxSandboxOptions): AutoSandbox;
export function createLinuxSandbox(
  kind: LinuxSandboxName | "auto",
  options: LinuxSandboxOptions = {},
): LinuxSandbox | AutoSandbox {
  if (kind === "auto") return createAutoSandbox(options);
  const create = Object.hasOwn(BACKENDS, kind) ? BACKENDS[kind] : undefined;
  if (create === undefined)
    throw new ConsentError(
      "options_invalid",
      `Cannot make sandbox "${kind}": no sandbox has this name`,
    );
  return create(options);
}

/** What each backend can enforce on this host, strongest backend first. */
export async function probeLinuxSandboxes(
  options: LinuxSandboxOptions = {},
): Promise<readonly SandboxReport[]> {
  const reports: SandboxReport[] = [];
  // one by one: some share a user
  for (const name of LINUX_SANDBOXES) reports.push(await createLinuxSandbox(name, options).probe());
  return reports;
}

function createAutoSandbox(options: LinuxSandboxOptions): AutoSandbox {
  const names: readonly LinuxSandboxName[] =
    options.user === undefined ? ["namespace", "landlock"] : ["namespace", "uid", "landlock"];
  const backends = names.map((name) => createLinuxSandbox(name, options));
  return {
    name: "auto",
    probe: async () => {
      const found = await findFirst(backends, "partial");
      return "sandbox" in found ? found.report : bestOf(found.refused);
    },
    spawn: async (argv, spawnOptions) => {
      const required = spawnOptions.requiredLevel ?? "partial";
      const found = await findFirst(
        backends,
        reachesLevel(required, "partial") ? required : "partial",
      );
      if ("sandbox" in found) return await found.sandbox.spawn(argv, spawnOptions);
      const text = `Cannot start an agent at level "${required}": ${found.refused.map(explain).join("; ")}`;
      throw new ConsentError("sandbox_unavailable", text);
    },
  };
}

type Found =
  | { readonly sandbox: LinuxSandbox; readonly report: SandboxReport }
  | { readonly refused: readonly SandboxReport[] };

async function findFirst(
  backends: readonly LinuxSandbox[],
  required: SandboxLevel,
): Promise<Found> {
  const refused: SandboxReport[] = [];
  for (const sandbox of backends) {
    const report = await sandbox.probe();
    if (report.isAvailable && reachesLevel(report.level, required)) return { sandbox, report };
    refused.push(report);
  }
  return { refused };
}

function bestOf(reports: readonly SandboxReport[]): SandboxReport {
  const [first, ...others] = reports;
  if (first === undefined) throw new TypeError("Cannot choose a sandbox: there are none");
  return others.find(({ isAvailable }) => isAvailable) ?? first;
}

function explain({ sandbox, level, reason, fix }: SandboxReport): string {
  return `"${sandbox}" has "${level}" (${reason}${fix === undefined ? "" : `; ${fix}`})`;
}
