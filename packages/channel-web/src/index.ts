/** @acp/channel-web: the approval inbox, where people answer on a page and sign with their own passkeys. */
export { createInbox } from "./inbox.js";
export { memoryPasskeys } from "./memory-passkeys.js";
export { toNodeHandler } from "./node-handler.js";
export type { FetchHandler } from "./node-handler.js";
export { createPasskeyVerifier } from "./passkey-verifier.js";
export type { PasskeyVerifierOptions } from "./passkey-verifier.js";
export type {
  AttachOptions,
  HistoryEntry,
  Inbox,
  InboxOptions,
  InboxPerson,
  OpenQuestion,
  Passkey,
  PasskeyStore,
  QuestionChange,
  QuestionSource,
} from "./parts.js";
