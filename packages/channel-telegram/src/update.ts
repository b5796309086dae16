/**
 * Update: what a person did, read from an Update of the Bot API. Two things only can count: a tap
 * on a button below a message of ours, and a reply in words of one's own. Forwarded, edited,
 * automatic and channel messages, and those sent in the name of a chat, are neither.
 */
import { type JsonValue, escapeText } from "@acp/core";
import { cutAfter } from "./cut.js";
import { at, integerAt, textAt } from "./json.js";

/** The kinds of updates that are asked for. */
export const ALLOWED_UPDATES: readonly string[] = ["message", "callback_query"];

const NAME_CHARS_MAX = 64;

/** Who did it, by what Telegram authenticated. */
export interface Sender {
  /** The user's id as decimal digits; `""` where it is no person's. */
  readonly subject: string;
  /** What the user calls themselves, safe to show. */
  readonly name: string;
}

/** A tap on a button. */
export interface Tap {
  readonly kind: "tap";
  readonly queryId: string;
  readonly sender: Sender;
  /** `""` where the button is not below a message of a chat. */
  readonly chatId: string;
  readonly messageId: number;
  readonly data: string;
}

/** A reply to a message. */
export interface Reply {
  readonly kind: "reply";
  readonly sender: Sender;
  readonly chatId: string;
  readonly messageId: number;
  readonly repliedId: number;
  /** When it was sent, in seconds, by Telegram's clock. */
  readonly dateS: number;
  readonly text: string;
}

/** An update; `undefined` inside where it is nothing that can count. */
export interface Update {
  readonly id: number;
  readonly event: Tap | Reply | undefined;
}

const idText = (id: number | undefined): string => (id === undefined ? "" : String(id));

function readSender(user: JsonValue | undefined): Sender {
  const id = integerAt(user, "id");
  const isPerson = id !== undefined && id > 0 && at(user, "is_bot") === false;
  return {
    subject: isPerson ? String(id) : "",
    name: cutAfter(escapeText(textAt(user, "first_name") ?? ""), NAME_CHARS_MAX),
  };
}

function readTap(query: JsonValue): Tap | undefined {
  const queryId = textAt(query, "id");
  if (queryId === undefined) return undefined;
  return {
    kind: "tap",
    queryId,
    sender: readSender(at(query, "from")),
    chatId: idText(integerAt(query, "message", "chat", "id")),
    messageId: integerAt(query, "message", "message_id") ?? 0,
    data: textAt(query, "data") ?? "",
  };
}

/** Members whose presence says that the words are not the sender's own. */
const NOT_OWN_WORDS: readonly string[] = [
  "forward_origin",
  "forward_date",
  "forward_from",
  "sender_chat",
  "via_bot",
  "is_automatic_forward",
  "edit_date",
];

function readReply(message: JsonValue): Reply | undefined {
  const messageId = integerAt(message, "message_id");
  const repliedId = integerAt(message, "reply_to_message", "message_id");
  const dateS = integerAt(message, "date");
  const text = textAt(message, "text");
  if (
    messageId === undefined ||
    repliedId === undefined ||
    dateS === undefined ||
    text === undefined
  )
    return undefined;
  if (NOT_OWN_WORDS.some((key) => at(message, key) !== undefined)) return undefined;
  return {
    kind: "reply",
    sender: readSender(at(message, "from")),
    chatId: idText(integerAt(message, "chat", "id")),
    messageId,
    repliedId,
    dateS,
    text,
  };
}

/** Reads an Update; `undefined` for what is none. */
export function readUpdate(value: JsonValue): Update | undefined {
  const id = integerAt(value, "update_id");
  if (id === undefined) return undefined;
  const query = at(value, "callback_query");
  const message = at(value, "message");
  return {
    id,
    event:
      query !== undefined ? readTap(query) : message === undefined ? undefined : readReply(message),
  };
}
