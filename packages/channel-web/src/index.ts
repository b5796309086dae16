/** @acp/channel-web: the approval inbox, where people answer on a page and sign with their own passkeys. */
export type { Inbox, InboxOptions, InboxPerson, OpenQuestion, Passkey, PasskeyStore, QuestionChange, QuestionSource } from "./parts.js";
