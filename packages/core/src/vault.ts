/**
 * "@acp/core/vault": secrets, sealed, put in and masked. Nothing of it is loaded by "@acp/core": a
 * gate is given its vault.
 */
export { isSealedField, openField, sealField } from "./vault/field.js";
export { injectSecrets } from "./vault/inject.js";
export type { InjectedAction, InjectedRelease } from "./vault/inject.js";
export { maskSecrets } from "./vault/mask.js";
export type { OpaqueHandling } from "./vault/mask.js";
export { createMasker } from "./vault/masker.js";
export {
  compareVaultMark,
  keysRotatedEvent,
  readVaultMark,
  vaultChangedEvent,
  vaultMark,
} from "./vault/notice.js";
export type {
  KeyChange,
  NoticeParts,
  VaultChange,
  VaultMark,
  VaultMarkResult,
} from "./vault/notice.js";
export { openVault, sealVault } from "./vault/seal.js";
export type { VaultContents } from "./vault/seal.js";
export { isSecretName } from "./vault/secret-name.js";
export { revealSecret, Secret } from "./vault/secret.js";
export type { SecretSource } from "./vault/secret.js";
export { createVault } from "./vault/vault.js";
export type { SecretList } from "./vault/vault.js";
