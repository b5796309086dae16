/**
 * BotApiDouble: a Bot API server on this machine, as strict as its documentation, with the people of its chats in a test's hands. It speaks
 * HTTP on a free port of the loopback interface; its faults are made on demand. Documentation: https://core.telegram.org/bots/api.
 */
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Clock, type JsonObject, type JsonValue, systemClock } from "@acp/core";
import { type BotApiChat, type BotApiMessage, type UploadedFile, createChats, quoted } from "./bot-api-chats.js";
import { type BotApiCall, readCall } from "./bot-api-http.js";
import { RefusedCall, badRequest, checkCall } from "./bot-api-rules.js";
import { createUpdates } from "./bot-api-updates.js";

/** Somebody who uses Telegram. */
export interface BotApiUser {
  readonly id: number;
  readonly name?: string;
  readonly isBot?: boolean;
}

/** What the person who tapped was told. */
export interface QueryAnswer {
  readonly text: string;
  readonly isAlert: boolean;
}

/** A tap on a button. */
export interface BotApiTap {
  readonly message: Pick<BotApiMessage, "chatId" | "id">;
  readonly from: BotApiUser;
  /** The beginning of a button's label, or data as no button of the message has it. */
  readonly button: { readonly label: string } | { readonly data: string };
}

/** Something that goes wrong. */
export interface BotApiFault {
  /** The method it happens to; every one unless given. */
  readonly method?: string;
  /** How often; once unless given. */
  readonly times?: number;
  /** `before` the call is carried out, or `after`: the reply is lost. */
  readonly cut?: "before" | "after";
  /** An error in the place of the result. */
  readonly status?: number;
  readonly description?: string;
  readonly retryAfterS?: number;
}

/** A Bot API server in a test's hands. */
export interface BotApiDouble extends AsyncDisposable {
  readonly apiRoot: string;
  /** The bot's token; another one after {@link BotApiDouble.revokeToken}. */
  readonly token: string;
  /** The calls that came, in order. */
  readonly calls: readonly BotApiCall[];
  /** The messages of a chat as they are now. */
  messages(chatId: number): readonly BotApiMessage[];
  /** Taps a button: the id of the update, and what the person is told once the bot answers. */
  tap(tap: BotApiTap): { readonly updateId: number; readonly answer: Promise<QueryAnswer> };
  /** Writes into a chat. `extra` are further members of the Message, as of a forwarded one. */
  write(message: {
    readonly chatId: number;
    readonly from: BotApiUser;
    readonly text: string;
    readonly repliedId?: number;
    readonly extra?: JsonObject;
  }): { readonly updateId: number; readonly message: BotApiMessage };
  /** Adds any update, e.g. a `channel_post`. */
  push(kind: string, value: JsonObject): number;
  /** Hands an update out a second time. */
  repeat(updateId: number): void;
  /** How many updates wait to be taken. */
  waiting(): number;
  fail(fault: BotApiFault): void;
  /** Cuts every connection until it is called with `false`. */
  setDown(isDown: boolean): void;
  /** As BotFather would: every call with the token fails with 401 from now on. */
  revokeToken(): void;
}

/** Options of {@link createBotApiDouble}. */
export interface BotApiDoubleOptions {
  /** The chats; one private chat of user 4711 unless given. */
  readonly chats?: readonly BotApiChat[];
  readonly clock?: Clock;
}

const TOKEN = "123456:double-of-the-bot-api";
const QUERY_TOO_OLD = "query is too old and response timeout expired or query ID is invalid";
const ANSWER_CHARS_MAX = 200;

const userJson = ({ id, name = "Alice", isBot = false }: BotApiUser): JsonObject => ({ id, is_bot: isBot, first_name: name });

interface Queries {
  readonly ask: (id: string) => Promise<QueryAnswer>;
  readonly answer: (params: JsonObject) => JsonValue;
}

/** Callback queries: each is answered once. */
function createQueries(): Queries {
  const open = new Map<string, (answer: QueryAnswer) => void>();
  return {
    ask: (id) => new Promise((resolve) => open.set(id, resolve)),
    answer({ callback_query_id: id, text = "", show_alert: isAlert = false }) {
      const resolve = typeof id === "string" ? open.get(id) : undefined;
      if (resolve === undefined || typeof id !== "string") return badRequest(QUERY_TOO_OLD);
      if (typeof text !== "string" || text.length > ANSWER_CHARS_MAX) return badRequest("MESSAGE_TOO_LONG");
      open.delete(id);
      resolve({ text, isAlert: isAlert === true });
      return true;
    },
  };
}

function reply(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** Faults in the order they were made; each is taken as often as it says. */
function createFaults(): { readonly add: (fault: BotApiFault) => void; readonly next: (method: string) => BotApiFault | undefined } {
  const faults: { readonly fault: BotApiFault; left: number }[] = [];
  return {
    add: (fault) => void faults.push({ fault, left: fault.times ?? 1 }),
    next(method) {
      const found = faults.find(({ fault, left }) => left > 0 && (fault.method ?? method) === method);
      if (found !== undefined) found.left--;
      return found?.fault;
    },
  };
}

function refusalOf({ status = 500, description = "Internal Server Error: made by a test", retryAfterS }: BotApiFault): RefusedCall {
  if (retryAfterS === undefined) return new RefusedCall({ status, description });
  return new RefusedCall({
    status: 429,
    description: `Too Many Requests: retry after ${retryAfterS}`,
    parameters: { retry_after: retryAfterS },
  });
}

/** Starts a double. */
export async function createBotApiDouble({ chats = [{ id: 4711 }], clock = systemClock }: BotApiDoubleOptions = {}): Promise<BotApiDouble> {
  const state = createChats(chats, clock);
  const updates = createUpdates();
  const queries = createQueries();
  const faults = createFaults();
  const calls: BotApiCall[] = [];
  let nextQuery = 1;
  let isDown = false;
  let isRevoked = false;

  const carryOut = (method: string, params: JsonObject, { file, signal }: { file: UploadedFile | undefined; signal: AbortSignal }) => {
    checkCall(method, params);
    switch (method) {
      case "getUpdates":
        return updates.getUpdates(params, signal);
      case "setWebhook":
        return updates.setWebhook(params);
      case "deleteWebhook":
        return updates.deleteWebhook(params);
      case "getWebhookInfo":
        return updates.webhookInfo();
      case "answerCallbackQuery":
        return queries.answer(params);
      default:
        return state.call(method, params, file);
    }
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    if (isDown) return void request.socket.destroy();
    const call = await readCall(request, isRevoked ? undefined : TOKEN);
    const fault = faults.next(call.method);
    calls.push(call);
    if (fault?.cut === "before") return void request.socket.destroy();
    if (fault !== undefined && fault.cut === undefined) throw refusalOf(fault);
    const result = await carryOut(call.method, call.params, { file: call.file, signal: gone.signal });
    if (fault?.cut === "after" || isDown) return void request.socket.destroy();
    reply(response, 200, { ok: true, result });
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      const refusal =
        error instanceof RefusedCall ? error.refusal : { status: 500, description: `Internal Server Error: ${String(error)}` };
      const { status, description, parameters } = refusal;
      reply(response, status, { ok: false, error_code: status, description, ...(parameters === undefined ? {} : { parameters }) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // A TCP server that listens has one.

  return {
    apiRoot: `http://127.0.0.1:${port}`,
    token: TOKEN,
    calls,
    messages: state.messages,
    push: updates.push,
    repeat: updates.repeat,
    waiting: updates.waiting,
    fail: faults.add,
    setDown(next) {
      isDown = next;
      if (next) server.closeAllConnections();
    },
    revokeToken() {
      isRevoked = true;
      updates.endPoll({ status: 401, description: "Unauthorized" });
    },
    tap({ message: { chatId, id }, from, button }) {
      const message = state.find(chatId, id);
      const found = "data" in button ? button.data : message?.buttons.find(({ label }) => label.startsWith(button.label))?.data;
      if (message === undefined || found === undefined)
        throw new Error(`Cannot tap ${JSON.stringify(button)}: message ${id} has no such button`);
      const queryId = String(nextQuery++);
      const answer = queries.ask(queryId);
      const query = { id: queryId, from: userJson(from), message: message.json, chat_instance: "1", data: found };
      return { updateId: updates.push("callback_query", query), answer };
    },
    write({ chatId, from, text, repliedId, extra = {} }) {
      const replied = repliedId === undefined ? undefined : state.find(chatId, repliedId);
      const parts = { text, ...(replied === undefined ? {} : quoted(replied)), ...extra };
      const message = state.write(chatId, userJson(from), parts);
      return { updateId: updates.push("message", message.json), message };
    },
    async [Symbol.asyncDispose]() {
      await updates[Symbol.asyncDispose]();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
