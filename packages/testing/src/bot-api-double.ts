/**
 * BotApiDouble: a Bot API server on this machine, as strict as its documentation, with the people
 * of its chats in a test's hands. It speaks HTTP on a free port of the loopback interface; its
 * faults are made on demand. Documentation: https://core.telegram.org/bots/api.
 */
import { type Clock, type JsonObject, type JsonValue, systemClock } from "@acp/core";
import { type BotApiChat, type BotApiChats, createChats } from "./bot-api-chats.js";
import type { BotApiCall } from "./bot-api-http.js";
import { type BotApiMessage, quoted } from "./bot-api-message.js";
import { badRequest } from "./bot-api-rules.js";
import { type BotApiFault, startServer } from "./bot-api-server.js";
import { type BotApiUpdates, createUpdates } from "./bot-api-updates.js";

/** A user of Telegram. */
export interface BotApiUser {
  /** The user's number. */
  readonly id: number;
  /** The first name that messages show; absent: none. */
  readonly name?: string;
  /** Whether it is another bot; `false` unless given. */
  readonly isBot?: boolean;
}

/** What the bot told the person who tapped a button. */
export interface QueryAnswer {
  /** Text of the notification; empty for none. */
  readonly text: string;
  /** Whether it is a dialog that the person has to close. */
  readonly isAlert: boolean;
}

/** A tap on a message's button. */
export interface BotApiTap {
  /** The message that has the button. */
  readonly message: Pick<BotApiMessage, "chatId" | "id">;
  /** The user who taps; need not be a member of the chat. */
  readonly from: BotApiUser;
  /**
   * The button, by the beginning of its label; or the data that is sent back, even if no button of
   * the message has it.
   */
  readonly button: { readonly label: string } | { readonly data: string };
}

/** A message that somebody writes. */
export interface BotApiWriting {
  /** The chat to write into. */
  readonly chatId: number;
  /** The user who writes; need not be a member of the chat. */
  readonly from: BotApiUser;
  /** The message, as plain text. */
  readonly text: string;
  /** Number of the message that this one answers. */
  readonly repliedId?: number;
  /** Further members of the Message, as of a forwarded one. */
  readonly extra?: JsonObject;
}

/** A Bot API server for tests. */
export interface BotApiDouble extends AsyncDisposable {
  /** Address of the server, to pass to the channel instead of Telegram's. */
  readonly apiRoot: string;
  /** The only bot token that the server accepts. */
  readonly token: string;
  /** The calls that it received, in order. */
  readonly calls: readonly BotApiCall[];
  /** The messages of a chat as they are now. */
  messages(chatId: number): readonly BotApiMessage[];
  /**
   * Taps a button. Returns the id of the update, and what the person is told once the bot answers.
   *
   * @throws Error where the message has no such button.
   */
  tap(tap: BotApiTap): { readonly updateId: number; readonly answer: Promise<QueryAnswer> };
  /** Sends a message to the bot. */
  write(message: BotApiWriting): { readonly updateId: number; readonly message: BotApiMessage };
  /**
   * Adds any update, e.g. a `channel_post`; returns its id, or -1 where the bot does not ask for
   * its kind.
   */
  push(kind: string, value: JsonObject): number;
  /** Sends an update a second time. */
  repeat(updateId: number): void;
  /** How many updates the bot has not taken yet. */
  waiting(): number;
  /** Makes the next calls fail as described. */
  fail(fault: BotApiFault): void;
  /** Closes every connection, until it is called with `false`. */
  setDown(isDown: boolean): void;
  /** Revokes the token, as BotFather would: every call with it fails with 401 from now on. */
  revokeToken(): void;
}

/** Options of {@link createBotApiDouble}. */
export interface BotApiDoubleOptions {
  /** The chats that exist; the private chat of user 4711 unless given. */
  readonly chats?: readonly BotApiChat[];
  /** Source of time; the system's clock unless given. */
  readonly clock?: Clock;
}

const TOKEN = "123456:double-of-the-bot-api";
const QUERY_TOO_OLD = "query is too old and response timeout expired or query ID is invalid";
const ANSWER_CHARS_MAX = 200;

const userJson = ({ id, name = "Alice", isBot = false }: BotApiUser): JsonObject => ({
  id,
  is_bot: isBot,
  first_name: name,
});

interface Queries {
  readonly ask: () => { readonly id: string; readonly answer: Promise<QueryAnswer> };
  readonly answer: (params: JsonObject) => JsonValue;
}

/** Callback queries: each is answered once. */
function createQueries(): Queries {
  const open = new Map<string, (answer: QueryAnswer) => void>();
  let nextId = 1;
  return {
    ask() {
      const id = String(nextId++);
      return { id, answer: new Promise((resolve) => open.set(id, resolve)) };
    },
    answer({ callback_query_id: id, text = "", show_alert: isAlert = false }) {
      const resolve = typeof id === "string" ? open.get(id) : undefined;
      if (resolve === undefined || typeof id !== "string") return badRequest(QUERY_TOO_OLD);
      if (typeof text !== "string" || text.length > ANSWER_CHARS_MAX)
        return badRequest("MESSAGE_TOO_LONG");
      open.delete(id);
      resolve({ text, isAlert: isAlert === true });
      return true;
    },
  };
}

interface Parts {
  readonly chats: BotApiChats;
  readonly updates: BotApiUpdates;
  readonly queries: Queries;
}

function carryOut(
  { chats, updates, queries }: Parts,
  call: BotApiCall,
  signal: AbortSignal,
): JsonValue | Promise<JsonValue> {
  const { method, params, file } = call;
  switch (method) {
    case "getUpdates":
      return updates.getUpdates(params, signal);
    case "setWebhook":
      return updates.setWebhook(params);
    case "deleteWebhook":
      return updates.setWebhook({ ...params, url: "" });
    case "getWebhookInfo":
      return updates.webhookInfo();
    case "answerCallbackQuery":
      return queries.answer(params);
    default:
      return chats.call(method, params, file);
  }
}

function tap(
  { chats, updates, queries }: Parts,
  { message: { chatId, id }, from, button }: BotApiTap,
): ReturnType<BotApiDouble["tap"]> {
  const message = chats.find(chatId, id);
  const data =
    "data" in button
      ? button.data
      : message?.buttons.find(({ label }) => label.startsWith(button.label))?.data;
  if (message === undefined || data === undefined)
    throw new Error(`Cannot tap ${JSON.stringify(button)}: message ${id} has no such button`);
  const query = queries.ask();
  const update = {
    id: query.id,
    from: userJson(from),
    message: message.json,
    chat_instance: "1",
    data,
  };
  return { updateId: updates.push("callback_query", update), answer: query.answer };
}

function write(
  { chats, updates }: Parts,
  { chatId, from, text, repliedId, extra = {} }: BotApiWriting,
): ReturnType<BotApiDouble["write"]> {
  const replied = repliedId === undefined ? undefined : chats.find(chatId, repliedId);
  const message = chats.write(chatId, userJson(from), {
    text,
    ...(replied === undefined ? {} : quoted(replied)),
    ...extra,
  });
  return { updateId: updates.push("message", message.json), message };
}

/** Starts a Bot API server for tests, on the loopback address. */
export async function createBotApiDouble({
  chats = [{ id: 4711 }],
  clock = systemClock,
}: BotApiDoubleOptions = {}): Promise<BotApiDouble> {
  const parts: Parts = {
    chats: createChats(chats, clock),
    updates: createUpdates(),
    queries: createQueries(),
  };
  let isRevoked = false;
  const server = await startServer({
    token: () => (isRevoked ? undefined : TOKEN),
    carryOut: (call, signal) => carryOut(parts, call, signal),
  });
  const { updates } = parts;
  return {
    apiRoot: server.apiRoot,
    token: TOKEN,
    calls: server.calls,
    messages: parts.chats.messages,
    tap: (given) => tap(parts, given),
    write: (given) => write(parts, given),
    push: updates.push,
    repeat: updates.repeat,
    waiting: updates.waiting,
    fail: server.fail,
    setDown: server.setDown,
    revokeToken() {
      isRevoked = true;
      updates.endPoll({ status: 401, description: "Unauthorized" });
    },
    async [Symbol.asyncDispose]() {
      await updates[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
