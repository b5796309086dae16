/**
 * @acp/channel-web: the approval inbox, where people answer on a page and sign with their own
 * passkeys.
 */
export { createInbox } from "./inbox.js";
export { memoryPasskeys } from "./memory-passkeys.js";
export { type FetchHandler, toNodeHandler } from "@acp/host";
export { createPasskeyVerifier } from "./passkey-verifier.js";
export type { PasskeyVerifierOptions } from "./passkey-verifier.js";
export type {
  HistoryEntry,
  Inbox,
  InboxOptions,
  InboxPauses,
  InboxPerson,
  PausedAgent,
} from "./inbox-options.js";
export type { Passkey, PasskeyStore } from "./passkey.js";
export type {
  AttachOptions,
  OpenQuestion,
  QuestionChange,
  QuestionOutcome,
  QuestionSource,
  RunOutcome,
} from "./question-source.js";
export type {
  InboxReviews,
  ReviewBy,
  ReviewOrder,
  ReviewRow,
  ReviewSettled,
  ReviewShown,
  ReviewSummary,
} from "./inbox-reviews.js";
