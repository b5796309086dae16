/** BotApiChats: the chats of a Bot API double, their messages, and the calls that write them. */
import type { Clock, JsonObject, JsonValue } from "@acp/core";
import { RefusedCall, badRequest, cleanText, memberOf, readEntities, readKeyboard } from "./bot-api-rules.js";

/** A chat that the bot may write to. */
export interface BotApiChat {
  /** Positive for a private chat, where it is the user's number. */
  readonly id: number;
  /** False where the bot is not in it, or was blocked; true unless given. */
  readonly canWrite?: boolean;
  /** The number the group has since it became a supergroup. */
  readonly becameId?: number;
}

/** A file as it was uploaded. */
export interface UploadedFile {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

/** A button of a message. */
export interface BotApiButton {
  readonly label: string;
  readonly data: string;
}

/** A message as it stands in its chat. */
export interface BotApiMessage {
  readonly chatId: number;
  readonly id: number;
  /** `""` for a file. */
  readonly text: string;
  readonly buttons: readonly BotApiButton[];
  /** Kinds of what is not plain text in it. */
  readonly entities: readonly string[];
  readonly file: UploadedFile | undefined;
  readonly repliedId: number | undefined;
  /** The user who wrote it; `undefined` for the bot. */
  readonly authorId: number | undefined;
  /** As the Bot API writes it. */
  readonly json: JsonObject;
}

/** The chats. */
export interface BotApiChats {
  readonly messages: (chatId: number) => readonly BotApiMessage[];
  readonly find: (chatId: number, messageId: number) => BotApiMessage | undefined;
  /** Adds a message by a user. */
  readonly write: (chatId: number, from: JsonObject, parts: JsonObject) => BotApiMessage;
  /** Carries a call out: the result. */
  readonly call: (method: string, params: JsonObject, file: UploadedFile | undefined) => JsonValue;
}

/** The bot of every double. */
export const BOT: JsonObject = { id: 123_456, is_bot: true, first_name: "Consent", username: "consent_bot" };

const CAPTION_UNITS_MAX = 1_024;

const numberOf = (value: JsonValue | undefined): number => (typeof value === "number" ? value : Number(value));

function chatJson({ id }: BotApiChat): JsonObject {
  return id > 0 ? { id, type: "private", first_name: "Alice" } : { id, type: "supergroup", title: "Approvals" };
}

function buttonsOf(markup: JsonValue | undefined): readonly BotApiButton[] {
  const rows = memberOf(markup, "inline_keyboard");
  const buttons = Array.isArray(rows) ? rows.flat() : [];
  return buttons.map((button: JsonValue) => ({
    label: String(memberOf(button, "text")),
    data: String(memberOf(button, "callback_data")),
  }));
}

function messageOf(json: JsonObject, file?: UploadedFile): BotApiMessage {
  const entities = json["entities"];
  const replied = memberOf(json["reply_to_message"], "message_id");
  const author = numberOf(memberOf(json["from"], "id"));
  return {
    chatId: numberOf(memberOf(json["chat"], "id")),
    id: numberOf(json["message_id"]),
    text: typeof json["text"] === "string" ? json["text"] : "",
    buttons: buttonsOf(json["reply_markup"]),
    entities: Array.isArray(entities) ? entities.map((entity: JsonValue) => String(memberOf(entity, "type"))) : [],
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

function checkFile(file: UploadedFile | undefined, caption: JsonValue | undefined): UploadedFile {
  if (file === undefined) return badRequest("there is no document in the request");
  if (file.text === "") badRequest("file must be non-empty");
  if (typeof caption === "string" && caption.length > CAPTION_UNITS_MAX) badRequest("message caption is too long");
  return file;
}

/** Chats without messages. */
export function createChats(chats: readonly BotApiChat[], clock: Clock): BotApiChats {
  const kept = new Map<number, Map<number, BotApiMessage>>(chats.map(({ id }) => [id, new Map()]));
  let nextId = 100;

  const find = (chatId: number, messageId: number): BotApiMessage | undefined => kept.get(chatId)?.get(messageId);
  const keep = (message: BotApiMessage): BotApiMessage => {
    kept.get(message.chatId)?.set(message.id, message);
    return message;
  };
  const chatOf = (params: JsonObject): BotApiChat => {
    const chat = chats.find(({ id }) => id === Number(params["chat_id"]));
    if (chat === undefined) return badRequest("chat not found");
    if (chat.becameId !== undefined)
      throw new RefusedCall({
        status: 400,
        description: "Bad Request: group chat was upgraded to a supergroup chat",
        parameters: { migrate_to_chat_id: chat.becameId },
      });
    if (chat.canWrite === false) throw new RefusedCall({ status: 403, description: "Forbidden: bot was blocked by the user" });
    return chat;
  };
  const makeMessage = (chat: BotApiChat, from: JsonObject, parts: JsonObject): JsonObject => ({
    message_id: nextId++,
    from,
    chat: chatJson(chat),
    date: Math.floor(clock.now() / 1_000),
    ...parts,
  });
  const repliedOf = (chat: BotApiChat, params: JsonObject): JsonObject => {
    const given = params["reply_parameters"];
    if (given === undefined) return {};
    const replied = find(chat.id, numberOf(memberOf(given, "message_id")));
    if (replied !== undefined) return quoted(replied);
    return memberOf(given, "allow_sending_without_reply") === true ? {} : badRequest("message to be replied not found");
  };
  const markupOf = (params: JsonObject): JsonObject => {
    const markup = readKeyboard(params["reply_markup"]);
    return markup === undefined ? {} : { reply_markup: markup };
  };
  const textOf = (params: JsonObject): JsonObject => {
    const text = cleanText(params["text"]);
    const entities = readEntities(text, params["entities"]);
    return { text, ...(entities.length === 0 ? {} : { entities }) };
  };

  const send = (params: JsonObject, content: JsonObject, file?: UploadedFile): JsonValue => {
    const chat = chatOf(params);
    return keep(messageOf(makeMessage(chat, BOT, { ...repliedOf(chat, params), ...content, ...markupOf(params) }), file)).json;
  };
  const edit = (params: JsonObject, content: JsonObject): JsonValue => {
    const message = find(chatOf(params).id, numberOf(params["message_id"]));
    if (message === undefined) return badRequest("message to edit not found");
    if (message.authorId !== undefined) return badRequest("message can't be edited");
    const { reply_markup: _before, edit_date: _date, ...rest } = message.json;
    const json = { ...rest, ...content, ...markupOf(params) };
    const { edit_date: _last, ...unedited } = message.json;
    if (JSON.stringify(json) === JSON.stringify(unedited))
      return badRequest(
        "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
      );
    return keep(messageOf({ ...json, edit_date: Math.floor(clock.now() / 1_000) }, message.file)).json;
  };

  const calls: Readonly<Record<string, (params: JsonObject, file: UploadedFile | undefined) => JsonValue>> = {
    getMe: () => BOT,
    sendMessage: (params) => send(params, textOf(params)),
    sendDocument: (params, uploaded) => {
      const file = checkFile(uploaded, params["caption"]);
      const document = { file_id: `file-${nextId}`, file_name: file.name, mime_type: file.type, file_size: Buffer.byteLength(file.text) };
      return send(params, { document }, file);
    },
    editMessageText: (params) => edit(params, textOf(params)),
    editMessageReplyMarkup: (params) => edit(params, {}),
  };
  return {
    messages: (chatId) => [...(kept.get(chatId)?.values() ?? [])],
    find,
    write: (chatId, from, parts) => keep(messageOf(makeMessage({ id: chatId }, from, parts))),
    call: (method, params, file) => calls[method]?.(params, file) ?? badRequest("this method is not carried out here"),
  };
}
