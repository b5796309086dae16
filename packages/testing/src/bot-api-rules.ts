/// <reference lib="es2024.string" />
/**
 * BotApiRules: what the Bot API takes, by its documentation: methods, parameters and their types,
 * and the limits of texts and keyboards. Stricter than the service in one point: a parameter that
 * the documentation does not know is refused.
 */
import { isJsonList, type JsonObject, type JsonValue, parseJson } from "@acp/core";

/** A call that the Bot API refuses. */
export interface Refusal {
  readonly status: number;
  readonly description: string;
  readonly parameters?: JsonObject;
}

/** What a rule throws. */
export class RefusedCall extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.description);
    this.refusal = refusal;
  }
}

/** Refuses a call with 400. */
export function badRequest(why: string): never {
  throw new RefusedCall({ status: 400, description: `Bad Request: ${why}` });
}

type Type = "integer" | "string" | "boolean" | "chat" | "object" | "array";

const MESSAGE = {
  chat_id: "chat",
  message_thread_id: "integer",
  disable_notification: "boolean",
  protect_content: "boolean",
  reply_parameters: "object",
  reply_markup: "object",
} as const satisfies Record<string, Type>;

/** The methods that a double knows, with their parameters. */
const METHODS: Readonly<Record<string, Readonly<Record<string, Type>>>> = {
  getMe: {},
  getWebhookInfo: {},
  getUpdates: { offset: "integer", limit: "integer", timeout: "integer", allowed_updates: "array" },
  setWebhook: {
    url: "string",
    ip_address: "string",
    max_connections: "integer",
    allowed_updates: "array",
    drop_pending_updates: "boolean",
    secret_token: "string",
  },
  deleteWebhook: { drop_pending_updates: "boolean" },
  sendMessage: { ...MESSAGE, text: "string", entities: "array", link_preview_options: "object" },
  sendDocument: {
    ...MESSAGE,
    document: "object",
    caption: "string",
    disable_content_type_detection: "boolean",
  },
  editMessageText: {
    chat_id: "chat",
    message_id: "integer",
    text: "string",
    entities: "array",
    link_preview_options: "object",
    reply_markup: "object",
  },
  editMessageReplyMarkup: { chat_id: "chat", message_id: "integer", reply_markup: "object" },
  answerCallbackQuery: {
    callback_query_id: "string",
    text: "string",
    show_alert: "boolean",
    url: "string",
    cache_time: "integer",
  },
};

/** Whether a value is a JSON object. */
export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isInteger = (value: JsonValue | undefined): value is number =>
  typeof value === "number" && Number.isSafeInteger(value);

const TYPES: Readonly<Record<Type, (value: JsonValue) => boolean>> = {
  integer: isInteger,
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  chat: (value) =>
    isInteger(value) || (typeof value === "string" && /^(?:-?\d+|@\w+)$/.test(value)),
  object: isObject,
  array: isJsonList,
};

/** Checks a call's name and the types of its parameters. */
export function checkCall(method: string, params: JsonObject): void {
  const known = METHODS[method];
  if (known === undefined)
    throw new RefusedCall({ status: 404, description: "Not Found: method not found" });
  for (const [key, value] of Object.entries(params)) {
    const type = known[key];
    if (type === undefined) badRequest(`unknown parameter "${key}"`);
    if (value === undefined || !TYPES[type](value))
      badRequest(`parameter "${key}" is not of type ${type}`);
  }
}

/** Reads a parameter that came as text. */
export function readTextParam(method: string, key: string, text: string): JsonValue {
  const type = METHODS[method]?.[key];
  if (type === "string" || type === "chat" || type === undefined) return text;
  try {
    return parseJson(text);
  } catch {
    return badRequest(`can't parse parameter "${key}"`);
  }
}

const TEXT_UNITS_MAX = 4_096;
const BUTTONS_MAX = 100;
const BUTTONS_IN_ROW_MAX = 8;
const MARKUP_BYTES_MAX = 10_000;
const DATA_BYTES_MAX = 64;
const ENTITY_TYPES: ReadonlySet<string> = new Set([
  "bold",
  "italic",
  "underline",
  "strikethrough",
  "spoiler",
  "code",
  "pre",
  "blockquote",
]);

/**
 * The text as the service keeps it: some characters are dropped, control characters become spaces,
 * both ends are trimmed.
 */
export function cleanText(text: JsonValue | undefined): string {
  if (typeof text !== "string" || text === "") return badRequest("message text is empty");
  if (!text.isWellFormed()) return badRequest("strings must be encoded in UTF-8");
  const clean = text
    .replaceAll(/\r|[\u2028-\u202e]|\u030a|\u0333|\u033f/g, "")
    .replaceAll(/[\u0000-\u0009\u000b-\u001f]/g, " ")
    .replace(/^[ \n]+|[ \n]+$/g, "");
  if (clean === "") return badRequest("message text is empty");
  return clean.length > TEXT_UNITS_MAX ? badRequest("message is too long") : clean;
}

/**
 * Entities found by the service itself where no `pre` or `code` covers the place: links, mentions,
 * commands.
 */
function findEntities(text: string, given: readonly JsonObject[]): readonly JsonObject[] {
  const isCovered = (offset: number): boolean =>
    given.some(
      ({ type, offset: start, length }) =>
        (type === "pre" || type === "code") &&
        isInteger(start) &&
        isInteger(length) &&
        offset >= start &&
        offset < start + length,
    );
  return Array.from(
    text.matchAll(/https?:\/\/\S+|(?<!\S)@\w{4,}|(?<!\S)\/[a-z]\w*|(?<!\S)#\w+/g),
    ({ 0: found, index }) => ({
      type: found.startsWith("http")
        ? "url"
        : found.startsWith("@")
          ? "mention"
          : found.startsWith("#")
            ? "hashtag"
            : "bot_command",
      offset: index,
      length: found.length,
    }),
  ).filter(({ offset }) => !isCovered(offset));
}

/** Checks entities, and adds those that the service finds. */
export function readEntities(text: string, entities: JsonValue | undefined): readonly JsonObject[] {
  const given = (isJsonList(entities) ? entities : []).map((entity) => {
    if (!isObject(entity)) return badRequest("can't parse MessageEntity: expected an Object");
    const { type, offset, length } = entity;
    if (typeof type !== "string" || !ENTITY_TYPES.has(type))
      return badRequest("can't parse MessageEntity: unsupported type specified");
    if (!isInteger(offset) || !isInteger(length) || offset < 0 || length <= 0)
      return badRequest("can't parse MessageEntity: wrong offset or length");
    return { type, offset, length: Math.min(length, text.length - offset) };
  });
  return [...given, ...findEntities(text, given)];
}

function checkButton(button: JsonValue): void {
  if (!isObject(button))
    return badRequest("can't parse inline keyboard button: InlineKeyboardButton must be an Object");
  const { text, callback_data: data, ...rest } = button;
  if (typeof text !== "string" || text === "")
    return badRequest(`can't parse inline keyboard button: field "text" must be non-empty`);
  if (Object.keys(rest).length > 0)
    return badRequest(
      "can't parse inline keyboard button: only buttons with callback_data are known here",
    );
  if (typeof data !== "string" || data === "")
    return badRequest(
      "can't parse inline keyboard button: text buttons are unallowed in the inline keyboard",
    );
  if (Buffer.byteLength(data) > DATA_BYTES_MAX) badRequest("BUTTON_DATA_INVALID");
}

/** Checks an inline keyboard; `undefined` where there is none. */
export function readKeyboard(markup: JsonValue | undefined): JsonObject | undefined {
  if (markup === undefined) return undefined;
  const rows = isObject(markup) ? markup["inline_keyboard"] : undefined;
  if (!isObject(markup) || !isJsonList(rows) || Object.keys(markup).length !== 1)
    return badRequest("only inline keyboards are known here");
  let count = 0;
  for (const row of rows) {
    if (!isJsonList(row))
      return badRequest(
        `field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays`,
      );
    for (const button of row) checkButton(button);
    if (row.length > BUTTONS_IN_ROW_MAX) badRequest("reply markup is too long");
    count += row.length;
  }
  if (count > BUTTONS_MAX || Buffer.byteLength(JSON.stringify(markup)) > MARKUP_BYTES_MAX)
    badRequest("reply markup is too long");
  return count === 0 ? undefined : markup;
}

/** A member of a JSON object. */
export function memberOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
