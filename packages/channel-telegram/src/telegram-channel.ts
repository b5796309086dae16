/**
 * TelegramChannel: asks in a Telegram chat. It shows and hands on; who may answer is decided by the
 * number of the user whom Telegram names, never by the chat, a name or a username. Guide:
 * docs/how-to/channels/telegram.md.
 */
import { setMaxListeners } from "node:events";
import {
  type AskSession,
  type Channel,
  ConsentError,
  type ConsentOutcome,
  type ConsentRequest,
  type Ending,
  type JsonValue,
} from "@acp/core";
import { type ApiFailure, createBotApi } from "./bot-api.js";
import { type Front, NAME, post, strip, textParams } from "./front.js";
import { createKeys } from "./keys.js";
import { type Settings, type TelegramChannelOptions, readOptions } from "./options.js";
import { createOutbox } from "./outbox.js";
import { explainFailure, pollUpdates } from "./poll.js";
import { takeReply } from "./replies.js";
import { isTokenRefused, pause } from "./retry.js";
import {
  type Drawing,
  type Posted,
  type Question,
  type Sheet,
  drawEnding,
  makeSheet,
} from "./sheet.js";
import { takeTap } from "./taps.js";
import { readUpdate } from "./update.js";
import { createWebhookHandler, registerWebhook } from "./webhook.js";

/** Ids kept of updates that came, and of messages whose question is over. */
const REMEMBERED_MAX = 1_000;
/** How long closing waits for messages to show how their questions ended. */
const CLOSE_GRACE_MS = 3_000;

/** A channel that asks in a Telegram chat. */
export interface TelegramChannel extends Channel, AsyncDisposable {
  /**
   * Settles when answers can arrive; rejects with the ConsentError `channel_unavailable` where
   * Telegram refuses that. During an outage it keeps waiting.
   */
  readonly ready: Promise<void>;
  /**
   * Handles a request of Telegram's webhook. Without the option `webhook`, every request gets 404.
   */
  handle(request: Request): Promise<Response>;
  /** Stops listening; open questions stay open at the gate. */
  close(): Promise<void>;
}

function remember<T>(kept: Set<T>, value: T): void {
  kept.add(value);
  const [oldest] = kept;
  if (kept.size > REMEMBERED_MAX && oldest !== undefined) kept.delete(oldest);
}

/** Shows how a question ended, and takes the meaning from its buttons at once. */
async function finish(front: Front, question: Question, ending: Ending): Promise<void> {
  for (const sheet of question.sheets) front.keys.revoke(sheet);
  question.over.abort(new Error("the question is over"));
  await Promise.allSettled(question.answering);
  const showEnd = async (sheet: Sheet): Promise<void> => {
    const posted = await sheet.posted;
    if (posted === undefined) return;
    remember(front.ended, posted.messageId);
    if (sheet.edit !== undefined) return strip(front, sheet);
    front.sheets.delete(posted.messageId);
    await rewrite(front, posted, drawEnding(sheet, ending));
  };
  const own = [...question.sheets].filter(({ edit }) => edit === undefined);
  await Promise.all(Array.from(question.sheets, showEnd));
  // Nothing waits for it: an action may take hours, and closing takes no notice of it.
  void question.session.outcome.then((outcome) => {
    if (outcome !== undefined && !front.life.aborted)
      for (const sheet of own) front.later(showOutcome(front, sheet, { ending, outcome }));
  });
}

function rewrite(front: Front, { messageId }: Posted, { text }: Drawing): Promise<unknown> {
  const params = { chat_id: front.settings.chatId, message_id: messageId, ...textParams(text) };
  return front.outbox({ method: "editMessageText", params, signal: front.life });
}

/** Says below how a question ended what became of its yes. */
async function showOutcome(front: Front, sheet: Sheet, { ending, outcome }: Known): Promise<void> {
  const posted = await sheet.posted;
  if (posted !== undefined) await rewrite(front, posted, drawEnding(sheet, ending, outcome));
}

interface Known {
  readonly ending: Ending;
  readonly outcome: ConsentOutcome;
}

/** Why a question is not in the chat, for the gate. */
function notShown(failure: ApiFailure): ConsentError {
  const cannot = "Cannot ask on Telegram";
  if (isTokenRefused(failure))
    return new ConsentError("channel_unavailable", `${cannot}: ${explainFailure(failure)}`);
  if (failure.newChatId !== undefined)
    return new ConsentError(
      "channel_unavailable",
      `${cannot}: the group has a new number, "${failure.newChatId}"; configure that`,
    );
  if (failure.status === 403 || failure.why.includes("chat not found"))
    return new ConsentError(
      "channel_unavailable",
      `${cannot}: ${failure.why}; press Start in the chat with the bot, or add it to the group`,
    );
  return new ConsentError("channel_failed", `${cannot}: ${failure.why}`);
}

interface Listening {
  readonly ready: Promise<void>;
  readonly handle: (request: Request) => Promise<Response>;
}

/** Starts to hear answers: by polling or by webhook. */
function listen(front: Front, settings: Settings, signal: AbortSignal): Listening {
  const seen = new Set<number>();
  const take = async (value: JsonValue): Promise<void> => {
    const update = readUpdate(value);
    if (update === undefined || signal.aborted || seen.has(update.id)) return;
    remember(seen, update.id);
    const { event } = update;
    if (event !== undefined)
      await (event.kind === "tap" ? takeTap(front, event) : takeReply(front, event));
  };
  const { api } = front;
  const { webhook, warn, clock } = settings;
  if (webhook !== undefined) {
    const handler = createWebhookHandler(webhook.secretToken, take);
    // What comes after the end is not taken, and Telegram must not think so.
    const handle = async (request: Request): Promise<Response> =>
      signal.aborted ? new Response(null, { status: 503 }) : handler(request);
    return { ready: registerWebhook({ api, webhook, warn, clock, signal }), handle };
  }
  const ready = new Promise<void>((resolve, reject) => {
    const started = (error?: ConsentError): void =>
      error === undefined ? resolve() : reject(error);
    front.later(
      pollUpdates({
        api,
        take: (update) => front.later(take(update)),
        started,
        warn,
        clock,
        signal,
      }),
    );
  });
  return { ready, handle: () => Promise.resolve(new Response(null, { status: 404 })) };
}

/** What the channel is doing. */
interface Running {
  readonly front: Front;
  readonly open: Set<Question>;
  /** Ends the hearing of answers, then everything. */
  readonly listening: AbortController;
  readonly life: AbortController;
  readonly work: Set<Promise<unknown>>;
}

function start(settings: Settings): Running {
  const [listening, life] = [new AbortController(), new AbortController()];
  // Everything under way listens to them: many listeners are no leak here.
  setMaxListeners(0, listening.signal, life.signal);
  const work = new Set<Promise<unknown>>();
  const later = (job: Promise<unknown>): void => {
    const done = job.catch(() => undefined).finally(() => work.delete(done));
    work.add(done);
  };
  const api = createBotApi(settings);
  const front: Front = {
    settings,
    api,
    outbox: createOutbox({ api, clock: settings.clock, warn: settings.warn, signal: life.signal }),
    keys: createKeys(),
    sheets: new Map(),
    ended: new Set(),
    strangers: new Set(),
    posting: new Set(),
    life: life.signal,
    later,
  };
  return { front, open: new Set(), listening, life, work };
}

async function stop({ front, open, listening, life, work }: Running): Promise<void> {
  const idle = async (): Promise<void> => {
    // What ended a moment ago is on its way here.
    await new Promise((resolve) => setImmediate(resolve));
    while (work.size > 0) await Promise.allSettled(work);
  };
  const closed = new Error("the channel is closed");
  listening.abort(closed);
  const grace = new AbortController();
  await Promise.race([idle(), pause(front.settings.clock, CLOSE_GRACE_MS, grace.signal)]);
  grace.abort();
  for (const { over } of open) over.abort(closed);
  life.abort(closed);
  await idle();
}

/** Puts a question into the chat, once an answer could be heard. */
async function ask(
  { front, open }: Running,
  question: Question,
  ready: Promise<void>,
): Promise<void> {
  const sheet = makeSheet(question);
  open.add(question);
  const ended = question.session.ended.then((ending) => {
    open.delete(question);
    front.later(finish(front, question, ending));
    return "ended" as const;
  });
  if ((await Promise.race([ready, ended])) === "ended") return;
  const reply = await post(front, sheet);
  if (!reply.ok && open.has(question)) throw notShown(reply);
}

/**
 * Makes a channel for one chat, with one bot. A message that cannot be posted because Telegram is
 * out of reach is tried again while its question is open; where Telegram refuses it for good,
 * `deliver` throws `channel_unavailable`.
 *
 * @throws ConsentError `options_invalid`.
 *
 * @example
 * ```ts
 * import { createTelegramChannel } from "@acp/channel-telegram";
 * import { createConsentGate } from "@acp/core";
 *
 * await using telegram = createTelegramChannel({ token, chatId: "4711" });
 * const gate = createConsentGate({ policy, channel: telegram, audit });
 * ```
 */
export function createTelegramChannel(options: TelegramChannelOptions): TelegramChannel {
  const settings = readOptions(options);
  const running = start(settings);
  const listening = running.listening.signal;
  const { ready, handle } = listen(running.front, settings, listening);
  ready.catch(() => undefined);
  let stopped: Promise<void> | undefined;
  const close = (): Promise<void> => (stopped ??= stop(running));

  const deliver = async (request: ConsentRequest, session: AskSession): Promise<void> => {
    if (listening.aborted)
      throw new ConsentError(
        "channel_unavailable",
        "Cannot ask on Telegram: the channel is closed",
      );
    if (settings.approvers.size === 0)
      throw new ConsentError("channel_unavailable", "Cannot ask on Telegram: nobody may answer");
    const over = new AbortController();
    setMaxListeners(0, over.signal);
    await ask(running, { request, session, over, sheets: new Set(), answering: new Set() }, ready);
  };
  return { name: NAME, ready, handle, deliver, close, [Symbol.asyncDispose]: close };
}
