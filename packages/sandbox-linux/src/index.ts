/**
 * @acp/sandbox-linux: starts an agent so that its only way out is the gate's proxy, and says what
 * each kind of boundary enforces.
 */
export type {
  ConfinementOptions,
  LinuxSandbox,
  LinuxSandboxedProcess,
  LinuxSandboxName,
  ResourceCaps,
  Workspace,
} from "./parts.js";
export type {
  AgentView,
  ConnectionTakers,
  HeldAgent,
  HeldNameChange,
  HoldOptions,
} from "./parts.js";
export { createLinuxSandbox, LINUX_SANDBOXES, probeLinuxSandboxes } from "./choose.js";
export type { AutoSandbox, LinuxSandboxOptions } from "./choose.js";
export { fileKey } from "./held-again.js";
export { codeDirectory } from "./helper-directory.js";
export { acceptFrom } from "./peer-uid.js";
export { unixPeers } from "./unix-peer.js";
export type { UnixPeers } from "./unix-peer.js";
export type { MissingHelper, NativeHelperOptions } from "./native-helper.js";
export { reachesLevel } from "./levels.js";
export { findPersistent } from "./persistent.js";
export { isGitsOwn } from "./git-own.js";
export { stateOf } from "./persistent-state.js";
export type { FindOptions } from "./persistent.js";
export type { Persistent } from "./persistent.js";
export { joinView, nameView } from "./namespace-view.js";
export type { HeldView, NamedView } from "./namespace-view.js";
export { isProcessGone, ownProcessName } from "./process-name.js";
export { reopenFolder } from "./places.js";
export { setAside } from "./set-aside.js";
export type { SetAside } from "./set-aside.js";
export { systemPaths } from "./system-paths.js";
export {
  createEnvSandbox,
  createLandlockSandbox,
  createNamespaceSandbox,
  createPreloadSandbox,
  createUidSandbox,
} from "./backends.js";
export { createTrials } from "./trials.js";
export type { TrialsOptions } from "./trials.js";
export type { FrozenTrial, TrialLimits, Trials } from "./trial-parts.js";
export type { UidOptions } from "./uid-prepare.js";
export type { LandlockOptions } from "./landlock.js";
export type { NamespaceOptions } from "./namespace-prepare.js";
export { removeTree } from "./remove-tree.js";
export { readContents } from "./review-contents.js";
export type { FileContents } from "./review-contents.js";
export type { SnapshotLimits } from "./review-parts.js";
export {
  isAsWanted,
  makeSnapshot,
  readSnapshot,
  removeUnfinished,
  SNAPSHOT_LIMITS,
} from "./review-snapshot.js";
export type { SnapshotParts } from "./review-snapshot.js";
export { takeChanges } from "./review-take.js";
export type { Taken, TakeOrder } from "./review-take.js";
export type {
  FileState,
  ReviewChange,
  ReviewListing,
  ReviewRefusal,
  ReviewSnapshot,
} from "./review-parts.js";
