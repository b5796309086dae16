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
  AttachOptions,
  HistoryEntry,
  Inbox,
  InboxOptions,
  InboxPauses,
  InboxPerson,
  OpenQuestion,
  Passkey,
  PasskeyStore,
  PausedAgent,
  QuestionChange,
  QuestionOutcome,
  QuestionSource,
  RunOutcome,
} from "./parts.js";
export type {
  InboxReviews,
  ReviewBy,
  ReviewOrder,
  ReviewRow,
  ReviewSettled,
  ReviewShown,
  ReviewSummary,
} from "./review-parts.js";
