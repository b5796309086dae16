/** BotApiChats: the chats of a Bot API double, their messages, and the calls that write them. */
import type { Clock, JsonObject, JsonValue } from "@acp/core";
import {
  BOT,
  type BotApiMessage,
  type UploadedFile,
  messageOf,
  numberOf,
  quoted,
} from "./bot-api-message.js";
import {
  RefusedCall,
  badRequest,
  cleanText,
  memberOf,
  readEntities,
  readKeyboard,
} from "./bot-api-rules.js";

/** A chat that the bot may write to. */
export interface BotApiChat {
  /** Number of the chat: of a private chat, the user's own; of a group, a negative one. */
  readonly id: number;
  /** False if the bot is not in the chat or was blocked; true unless given. */
  readonly canWrite?: boolean;
  /** The number that the group has had since it became a supergroup. */
  readonly becameId?: number;
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

const CAPTION_UNITS_MAX = 1_024;
const NOT_MODIFIED =
  "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message";

function chatJson(id: number): JsonObject {
  return id > 0
    ? { id, type: "private", first_name: "Alice" }
    : { id, type: "supergroup", title: "Approvals" };
}

function checkFile(file: UploadedFile | undefined, caption: JsonValue | undefined): UploadedFile {
  if (file === undefined) return badRequest("there is no document in the request");
  if (file.text === "") badRequest("file must be non-empty");
  if (typeof caption === "string" && caption.length > CAPTION_UNITS_MAX)
    badRequest("message caption is too long");
  return file;
}

/** The chat of a call, where the bot may write. */
function chatOf(chats: readonly BotApiChat[], params: JsonObject): number {
  const chat = chats.find(({ id }) => id === Number(params["chat_id"]));
  if (chat === undefined) return badRequest("chat not found");
  if (chat.becameId !== undefined)
    throw new RefusedCall({
      status: 400,
      description: "Bad Request: group chat was upgraded to a supergroup chat",
      parameters: { migrate_to_chat_id: chat.becameId },
    });
  if (chat.canWrite === false)
    throw new RefusedCall({ status: 403, description: "Forbidden: bot was blocked by the user" });
  return chat.id;
}

function markupOf(params: JsonObject): JsonObject {
  const markup = readKeyboard(params["reply_markup"]);
  return markup === undefined ? {} : { reply_markup: markup };
}

function textOf(params: JsonObject): JsonObject {
  const text = cleanText(params["text"]);
  const entities = readEntities(text, params["entities"]);
  return { text, ...(entities.length === 0 ? {} : { entities }) };
}

/** What an edit makes of a message. */
function editOf({ json, authorId }: BotApiMessage, content: JsonObject): JsonObject {
  if (authorId !== undefined) return badRequest("message can't be edited");
  const { edit_date: _when, ...before } = json;
  const { reply_markup: _buttons, ...kept } = before;
  // A new text comes with its own entities.
  const { entities: _old, ...bare } = kept;
  const after = { ...(content["text"] === undefined ? kept : bare), ...content };
  return JSON.stringify(after) === JSON.stringify(before) ? badRequest(NOT_MODIFIED) : after;
}

/** The messages of each chat, and the next one's number. */
function createHistory(chats: readonly BotApiChat[], nowS: () => number) {
  const kept = new Map<number, Map<number, BotApiMessage>>(chats.map(({ id }) => [id, new Map()]));
  let nextId = 100;
  return {
    nextId: () => nextId,
    messages: (chatId: number): readonly BotApiMessage[] => [...(kept.get(chatId)?.values() ?? [])],
    find: (chatId: number, messageId: number): BotApiMessage | undefined =>
      kept.get(chatId)?.get(messageId),
    keep: (json: JsonObject, file?: UploadedFile): BotApiMessage => {
      const message = messageOf(json, file);
      kept.get(message.chatId)?.set(message.id, message);
      return message;
    },
    makeMessage: (chatId: number, from: JsonObject, parts: JsonObject): JsonObject => ({
      message_id: nextId++,
      from,
      chat: chatJson(chatId),
      date: nowS(),
      ...parts,
    }),
  };
}

/** Chats without messages. */
export function createChats(chats: readonly BotApiChat[], clock: Clock): BotApiChats {
  const nowS = (): number => Math.floor(clock.now() / 1_000);
  const { nextId, messages, find, keep, makeMessage } = createHistory(chats, nowS);
  const repliedOf = (chatId: number, { reply_parameters: given }: JsonObject): JsonObject => {
    if (given === undefined) return {};
    const replied = find(chatId, numberOf(memberOf(given, "message_id")));
    if (replied !== undefined) return quoted(replied);
    return memberOf(given, "allow_sending_without_reply") === true
      ? {}
      : badRequest("message to be replied not found");
  };
  const send = (params: JsonObject, content: JsonObject, file?: UploadedFile): JsonValue => {
    const chatId = chatOf(chats, params);
    return keep(
      makeMessage(chatId, BOT, { ...repliedOf(chatId, params), ...content, ...markupOf(params) }),
      file,
    ).json;
  };
  const edit = (params: JsonObject, content: JsonObject): JsonValue => {
    const message =
      find(chatOf(chats, params), numberOf(params["message_id"])) ??
      badRequest("message to edit not found");
    return keep(
      { ...editOf(message, { ...content, ...markupOf(params) }), edit_date: nowS() },
      message.file,
    ).json;
  };
  const calls: Readonly<
    Record<string, (params: JsonObject, file: UploadedFile | undefined) => JsonValue>
  > = {
    getMe: () => BOT,
    sendMessage: (params) => send(params, textOf(params)),
    sendDocument: (params, uploaded) => {
      const file = checkFile(uploaded, params["caption"]);
      const document = {
        file_id: `file-${nextId()}`,
        file_name: file.name,
        mime_type: file.type,
        file_size: Buffer.byteLength(file.text),
      };
      return send(params, { document }, file);
    },
    editMessageText: (params) => edit(params, textOf(params)),
    editMessageReplyMarkup: (params) => edit(params, {}),
  };
  return {
    messages,
    find,
    write: (chatId, from, parts) => keep(makeMessage(chatId, from, parts)),
    call: (method, params, file) =>
      calls[method]?.(params, file) ?? badRequest("this method is not carried out here"),
  };
}
