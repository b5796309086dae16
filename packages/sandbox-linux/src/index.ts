/** @acp/sandbox-linux: starts an agent so that its only way out is the gate's proxy, and says what each kind of boundary enforces. */
export type { ConfinementOptions, LinuxSandbox, LinuxSandboxedProcess, LinuxSandboxName, ResourceCaps, Workspace } from "./parts.js";
export { createLinuxSandbox, LINUX_SANDBOXES, probeLinuxSandboxes } from "./choose.js";
export type { AutoSandbox, LinuxSandboxOptions } from "./choose.js";
export { acceptFrom } from "./peer-uid.js";
export { reachesLevel } from "./levels.js";
export { findPersistent, isGitsOwn } from "./persistent.js";
export type { Persistent } from "./persistent.js";
export { isProcessGone, ownProcessName } from "./process-name.js";
export { setAside } from "./set-aside.js";
export type { SetAside } from "./set-aside.js";
export { systemPaths } from "./system-paths.js";
export { createEnvSandbox, createLandlockSandbox, createNamespaceSandbox, createPreloadSandbox, createUidSandbox } from "./backends.js";
export type { UidOptions } from "./uid-prepare.js";
export type { LandlockOptions } from "./landlock.js";
