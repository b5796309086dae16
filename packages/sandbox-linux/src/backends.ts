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
 * Namespaces of the agent's own, made by bubblewrap: level `full`. `probe` and `spawn` throw
 * ConsentError `options_invalid` where the options name a directory, a user or a cap that cannot be
 * had.
 */
export function createNamespaceSandbox(options: NamespaceOptions = {}): LinuxSandbox {
  return namespace(options);
}

/**
 * Rules on a system user: level `uid`. The manager has to be root, and the agent's user nobody that
 * could be somebody else. Its `probe` never throws; its `spawn` throws as {@link LinuxSandbox}
 * says.
 */
export function createUidSandbox(options: UidOptions): LinuxSandbox {
  return uid(options);
}

/**
 * Landlock and a strict filter of system calls: level `partial`, for hosts without user namespaces.
 * `probe` and `spawn` throw ConsentError `options_invalid` where the options name a directory, a
 * user or a cap that cannot be had.
 */
export function createLandlockSandbox(options: LandlockOptions = {}): LinuxSandbox {
  return landlock(options);
}

/**
 * A library that leads programs to the proxy which ignore variables: level `advisory`, no barrier.
 * `probe` and `spawn` throw ConsentError `options_invalid` where the options name a directory or a
 * user that cannot be had.
 */
export function createPreloadSandbox(options: ConfinementOptions = {}): LinuxSandbox {
  return preload(options);
}

/**
 * Variables alone: level `none`. `probe` and `spawn` throw ConsentError `options_invalid` where the
 * options name a directory or a user that cannot be had.
 */
export function createEnvSandbox(options: ConfinementOptions = {}): LinuxSandbox {
  return env(options);
}
