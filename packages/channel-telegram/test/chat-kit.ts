/** A channel whose chat is a Bot API double, and what its people do. */
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AskSession, Clock, ConsentRequest } from "@acp/core";
import {
  type AskDouble,
  type BotApiChat,
  type BotApiDouble,
  type BotApiMessage,
  type BotApiUser,
  type ManualClock,
  type QueryAnswer,
  askDouble,
  createBotApiDouble,
  manualClock,
  sampleRequest,
} from "@acp/testing";
import { expect } from "vitest";
import {
  type TelegramChannel,
  type TelegramChannelOptions,
  createTelegramChannel,
} from "../src/index.js";

export const ALICE: BotApiUser = { id: 4711, name: "Alice" };
export const BOB: BotApiUser = { id: 4712, name: "Bob" };
export const STRANGER: BotApiUser = { id: 6666, name: "Mallory" };
export const GROUP = -100_500;
/** How long a test waits for what must come, on a machine that is slow and busy. */
export const PATIENCE = { timeout: 120_000, interval: 5 } as const;

export interface Chat extends AsyncDisposable {
  readonly bot: BotApiDouble;
  readonly channel: TelegramChannel;
  readonly chatId: number;
  readonly warnings: string[];
  /** Asks in the chat: the question, and the message that shows it. */
  ask(
    overrides?: Partial<ConsentRequest>,
    options?: { readonly redelivery?: boolean; readonly session?: AskSession },
  ): Promise<Asked>;
  messages(): readonly BotApiMessage[];
  /** The message that shows a question. */
  message(id: string): BotApiMessage | undefined;
  tap(message: BotApiMessage, label: string, from?: BotApiUser): Promise<QueryAnswer>;
  reply(message: BotApiMessage, text: string, from?: BotApiUser): BotApiMessage;
  /** The bot's own messages in reply to another. */
  repliesTo(message: BotApiMessage): readonly BotApiMessage[];
  /** Waits until the bot has replied. */
  replied(message: BotApiMessage): Promise<BotApiMessage>;
}

export interface Asked extends AskDouble {
  readonly message: BotApiMessage;
  /** As it is in the chat now. */
  now(): BotApiMessage;
}

export interface ChatOptions extends Partial<TelegramChannelOptions> {
  readonly chats?: readonly BotApiChat[];
}

/** A chat; the private one of Alice unless given. */
export async function openChat({ chats, ...options }: ChatOptions = {}): Promise<Chat> {
  const chatId = Number(options.chatId ?? ALICE.id);
  const bot = await createBotApiDouble({ chats: chats ?? [{ id: chatId }] });
  const warnings: string[] = [];
  const channel = createTelegramChannel({
    token: bot.token,
    chatId: String(chatId),
    apiRoot: bot.apiRoot,
    warn: (message) => warnings.push(message),
    ...options,
  });
  const messages = (): readonly BotApiMessage[] => bot.messages(chatId);
  const message = (id: string): BotApiMessage | undefined =>
    messages().find(({ text }) => text.includes(`· ${id}`));
  const repliesTo = ({ id }: BotApiMessage): readonly BotApiMessage[] =>
    messages().filter(({ repliedId, authorId }) => repliedId === id && authorId === undefined);
  return {
    bot,
    channel,
    chatId,
    warnings,
    messages,
    message,
    repliesTo,
    async ask(overrides = {}, { redelivery = false, session } = {}) {
      const ask = askDouble(sampleRequest(overrides), { redelivery });
      await channel.deliver(ask.request, session ?? ask.session);
      const now = (): BotApiMessage => {
        const found = message(ask.request.id);
        if (found === undefined) throw new Error(`no message shows ${ask.request.id}`);
        return found;
      };
      return { ...ask, message: now(), now };
    },
    tap: (on, label, from = ALICE) => bot.tap({ message: on, from, button: { label } }).answer,
    reply: (to, text, from = ALICE) => bot.write({ chatId, from, text, repliedId: to.id }).message,
    async replied(to) {
      await expect.poll(() => repliesTo(to).length, PATIENCE).toBeGreaterThan(0);
      const [first] = repliesTo(to);
      if (first === undefined) throw new Error("no reply");
      return first;
    },
    async [Symbol.asyncDispose]() {
      await channel.close();
      await bot[Symbol.asyncDispose]();
    },
  };
}

/** A group of Alice and Bob, who may answer, and others. */
export const openGroup = (options: ChatOptions = {}): Promise<Chat> =>
  openChat({ chatId: String(GROUP), approvers: [String(ALICE.id), String(BOB.id)], ...options });

/**
 * Lets a manual clock run until something is so: ten times as fast as real time, so that what goes
 * over real sockets on a busy machine is not overtaken by its own time limits.
 */
export async function runUntil(
  clock: ManualClock,
  isSo: () => boolean,
  stepMs = 50,
): Promise<void> {
  await expect
    .poll(async () => {
      await clock.advance(stepMs);
      return isSo();
    }, PATIENCE)
    .toBe(true);
}

/**
 * A chat whose updates come by webhook, through an HTTP server as anybody would mount the handler.
 */
export async function openWebhookChat(
  options: ChatOptions = {},
): Promise<Chat & { readonly url: string; readonly secretToken: string }> {
  const secretToken = "s".repeat(48);
  let handle: (request: Request) => Promise<Response> = () =>
    Promise.resolve(new Response(null, { status: 503 }));
  const server = createServer((request, response) => void serve(request, response, handle));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/telegram`;
  const chat = await openChat({ ...options, webhook: { url, secretToken } });
  handle = (request) => chat.channel.handle(request);
  await chat.channel.ready;
  return {
    ...chat,
    url,
    secretToken,
    async [Symbol.asyncDispose]() {
      await chat[Symbol.asyncDispose]();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  handle: (request: Request) => Promise<Response>,
): Promise<void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) if (chunk instanceof Uint8Array) chunks.push(chunk);
  const headers = Object.entries(incoming.headers).map(([key, value]): [string, string] => [
    key,
    String(value),
  ]);
  const body = incoming.method === "GET" ? {} : { body: Buffer.concat(chunks) };
  const response = await handle(
    new Request(`http://localhost${incoming.url ?? "/"}`, {
      method: incoming.method ?? "GET",
      headers,
      ...body,
    }),
  );
  outgoing.writeHead(response.status).end(Buffer.from(await response.arrayBuffer()));
}

/** A chat whose channel's time is in the test's hands; closing needs {@link closeChat}. */
export async function openClockedChat(
  options: ChatOptions = {},
): Promise<Chat & { readonly clock: ManualClock }> {
  const clock = manualClock();
  const chat = await openChat({ ...options, clock: clock satisfies Clock });
  return {
    ...chat,
    clock,
    async [Symbol.asyncDispose]() {
      let isClosed = false;
      const closing = chat[Symbol.asyncDispose]().then(() => (isClosed = true));
      await runUntil(clock, () => isClosed);
      await closing;
    },
  };
}
