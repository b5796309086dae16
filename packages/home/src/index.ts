/** @acp/home: the ~/.acp directory: config, policy, pause, keys, vault. Private and atomic. */
export { checkpointKeyPath, readCheckpointKey } from "./checkpoint-key.js";
export { createFileAtomic, syncDirectory, writeFileAtomic } from "./atomic.js";
export { carryClaims, fileClaims } from "./claims-file.js";
export { configSchema, DEFAULT_CONFIG, parseConfig, readConfig } from "./config.js";
export type { Config, LoadedConfig } from "./config.js";
export { DEFAULT_AUDIT_CONFIG } from "./config-audit.js";
export type { AuditConfig, WitnessConfig } from "./config-audit.js";
export { channelsOf } from "./config-channels.js";
export { CHANNEL_NAMES } from "./config-channels.js";
export type {
  ChannelName,
  ChannelStage,
  ListenAddress,
  TelegramConfig,
  WebhookConfig,
} from "./config-channels.js";
export { encryptConfigField, readConfigField } from "./config-encrypt.js";
export type { FieldChange, FieldState } from "./config-encrypt.js";
export type { HttpAgentConfig, HttpProxyConfig, ProxyConfig } from "./config-proxy.js";
export {
  openHttpAgentConfig,
  openServerConfig,
  openTelegramConfig,
  openWebhookConfig,
} from "./config-secrets.js";
export type {
  CommandServer,
  ServerOAuth,
  ServerLimits,
  ServerReach,
  ServerTrust,
  UpstreamServer,
  UrlServer,
} from "./config-servers.js";
export { findEncryptedFields, openConfigField, resealFields } from "./encrypted-field.js";
export { fileGrants, parseGrants } from "./grants-file.js";
export type { FileGrantsOptions } from "./grants-file.js";
export { initHome, openHome, refuseInterrupted } from "./home.js";
export type { Home, InitReport } from "./home.js";
export { createUseCheck, signerInUse, whyOutOfUse } from "./key-in-use.js";
export {
  initKeys,
  repairPeriods,
  readPublicKeys,
  readUnlockKind,
  rotateKeys,
  openPrivatePair,
  takeOverKeys,
  unlockKeys,
} from "./keys.js";
export type { KeyClock, Rotation, WallClock } from "./keys.js";
export { changeUnlock, resetKeys } from "./keys-reset.js";
export type { Reset, ResetPlan, UnlockChange } from "./keys-reset.js";
export { createKeptReading } from "./kept-reading.js";
export { machineClock } from "./machine-clock.js";
export { onceATurn } from "./once-a-turn.js";
export { homePaths, resolveHome, resolvePath, swapPath } from "./paths.js";
export type { HomePaths, HomeSources, PathOrigins } from "./paths.js";
export { fileToolPins, parseToolPins, PINNED_SERVERS_MAX } from "./tool-pins-file.js";
export type { FileToolPins, FileToolPinsOptions, ServerPins, ToolPin } from "./tool-pins-file.js";
export { filePasskeys, parsePasskeys, printPasskeys } from "./passkeys-file.js";
export type { FilePasskeys, FilePasskeysOptions, PasskeyRecord } from "./passkeys-file.js";
export { listPausedAgents, pauseAgent, readAgentPause, resumeAgent } from "./agent-pause.js";
export type { PausableAgent, PausedAgent } from "./agent-pause.js";
export { clearPause, readPause, setPause } from "./pause.js";
export type { PauseEnd } from "./pause-file.js";
export { openPendingFiles } from "./pending-directory.js";
export type { AcceptRecord, KnownQuestions, PendingFiles } from "./pending-directory.js";
export { readPolicyFile } from "./policy-file.js";
export { watchPolicyFile } from "./policy-watch.js";
export type { PolicyWatch, PolicyWatchOptions } from "./policy-watch.js";
export { watchText } from "./text-watch.js";
export type { TextWatch, TextWatchOptions } from "./text-watch.js";
export { checkPrivateDirectory, makePrivateDirectory, readPrivateFile } from "./private-file.js";
export { deriveUnlockKey, makeKeyFile } from "./private-key.js";
export type { Unlock } from "./private-key.js";
export { isWithin, parsePublicKeys, printPublicKeys, trustedKeysOf } from "./public-keys.js";
export type { KeyPeriod, SignedAt } from "./public-keys.js";
export {
  changeVaultFile,
  createVaultFile,
  readVaultFile,
  withoutSecret,
  withSecret,
} from "./vault-file.js";
export type { OpenedVault, VaultEdit } from "./vault-file.js";
export { openRecordKey } from "./record-key.js";
export { readState } from "./state-file.js";
export type { StateGuard } from "./state-file.js";
export { splitWords } from "./words.js";
export type { SplitWords } from "./words.js";
export { holdWriter, whileWriting } from "./writer-lock.js";
export type { HeldWriter } from "./writer-lock.js";
