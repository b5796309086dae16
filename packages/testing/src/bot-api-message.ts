/** BotApiMessage: a message of a Bot API double, as a test looks at it. */
import { isJsonList, type JsonObject, type JsonValue } from "@acp/core";
import { memberOf } from "./bot-api-rules.js";

/** A file that the bot uploaded. */
export interface UploadedFile {
  /** File name that the bot gave it. */
  readonly name: string;
  /** Media type, such as `text/plain`. */
  readonly type: string;
  /** Contents, decoded as UTF-8. */
  readonly text: string;
}

/** A button below a message. */
export interface BotApiButton {
  /** The text on it. */
  readonly label: string;
  /** What a tap sends back (`callback_data`). */
  readonly data: string;
}

/** A message as it is in its chat now. */
export interface BotApiMessage {
  /** Telegram's number of the chat; negative for a group. */
  readonly chatId: number;
  /** Its number within the chat. */
  readonly id: number;
  /** Its text; `""` for a file. */
  readonly text: string;
  /** The inline keyboard, row after row. */
  readonly buttons: readonly BotApiButton[];
  /** Kinds of its parts that are not plain text. */
  readonly entities: readonly string[];
  /** The document that it carries; `undefined` for none. */
  readonly file: UploadedFile | undefined;
  /** Number of the message that it answers; `undefined` for none. */
  readonly repliedId: number | undefined;
  /** Number of the user who wrote it; `undefined` for the bot. */
  readonly authorId: number | undefined;
  /** The message as JSON, as the Bot API writes it. */
  readonly json: JsonObject;
}

/** The bot of every double. */
export const BOT: JsonObject = {
  id: 123_456,
  is_bot: true,
  first_name: "Consent",
  username: "consent_bot",
};

/** A number, or one written as text. */
export const numberOf = (value: JsonValue | undefined): number =>
  typeof value === "number" ? value : Number(value);
const textOf = (value: JsonValue | undefined): string => (typeof value === "string" ? value : "");
const listOf = (value: JsonValue | undefined): readonly JsonValue[] =>
  isJsonList(value) ? value : [];

/** A Message of the Bot API as a test looks at it. */
export function messageOf(json: JsonObject, file?: UploadedFile): BotApiMessage {
  const replied = memberOf(json["reply_to_message"], "message_id");
  const author = numberOf(memberOf(json["from"], "id"));
  return {
    chatId: numberOf(memberOf(json["chat"], "id")),
    id: numberOf(json["message_id"]),
    text: textOf(json["text"]),
    buttons: listOf(memberOf(json["reply_markup"], "inline_keyboard"))
      .flatMap(listOf)
      .map((button) => ({
        label: textOf(memberOf(button, "text")),
        data: textOf(memberOf(button, "callback_data")),
      })),
    entities: listOf(json["entities"]).map((entity) => textOf(memberOf(entity, "type"))),
    file,
    repliedId: replied === undefined ? undefined : numberOf(replied),
    authorId: author === BOT["id"] ? undefined : author,
    json,
  };
}

/** A message as one that replies to it carries it: without what it replies to itself. */
export function quoted({ json }: BotApiMessage): JsonObject {
  const { reply_to_message: _inner, ...rest } = json;
  return { reply_to_message: rest };
}
