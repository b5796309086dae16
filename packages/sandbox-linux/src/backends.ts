/**
 * Backends as they are for everybody: without the second arguments by which tests take a part away.
 * What they do stands in the file of each.
 */
import { createEnvSandbox as env } from "./env.js";
import { createLandlockSandbox as landlock, type LandlockOptions } from "./landlock.js";
import { createNamespaceSandbox as namespace } from "./namespace.js";
import type { NamespaceOptions } from "./namespace-prepare.js";
import type { ConfinementOptions, LinuxSandbox } from "./parts.js";
import { createPreloadSandbox as preload } from "./preload.js";
import { createUidSandbox as uid } from "./uid.js";
import type { UidOptions } from "./uid-prepare.js";

/**
 * Makes the sandbox `namespace`: Linux namespaces made by bubblewrap, level `full`. `probe` and
 * `spawn` throw ConsentError `options_invalid` where the options name a directory, a user or a cap
 * that is not available.
 */
export function createNamespaceSandbox(options: NamespaceOptions = {}): LinuxSandbox {
  return namespace(options);
}

/**
 * Makes the sandbox `uid`: firewall rules for a system user, level `uid`. This process must be
 * root, and the agent's user must be used for nothing else. Its `probe` never throws; its `spawn`
 * throws as {@link LinuxSandbox} says.
 */
export function createUidSandbox(options: UidOptions): LinuxSandbox {
  return uid(options);
}

/**
 * Makes the sandbox `landlock`: Landlock and a strict filter of system calls, level `partial`, for
 * hosts without user namespaces. `probe` and `spawn` throw ConsentError `options_invalid` where the
 * options name a directory, a user or a cap that is not available.
 */
export function createLandlockSandbox(options: LandlockOptions = {}): LinuxSandbox {
  return landlock(options);
}

/**
 * Makes the sandbox `preload`: a library that leads programs that ignore proxy variables to the
 * proxy. Level `advisory`: not a barrier. `probe` and `spawn` throw ConsentError `options_invalid`
 * where the options name a directory or a user that is not available.
 */
export function createPreloadSandbox(options: ConfinementOptions = {}): LinuxSandbox {
  return preload(options);
}

/**
 * Makes the sandbox `env`: proxy variables only, level `none`. `probe` and `spawn` throw
 * ConsentError `options_invalid` where the options name a directory or a user that is not
 * available.
 */
export function createEnvSandbox(options: ConfinementOptions = {}): LinuxSandbox {
  return env(options);
}
