/**
 * WebhookChannel: asks people through a receiver of the operator's. Questions and their ends go out
 * signed; answers come back signed, in the reply or later to the handler, or from the pages behind
 * links. Guide: docs/how-to/channels/webhook.md. Format: spec/webhook.md.
 */
import {
  type AskSession,
  type Channel,
  ConsentError,
  type ConsentRequest,
  isConsentError,
} from "@acp/core";
import { questionEvent } from "./events.js";
import { createHandler } from "./handler.js";
import { type Links, createLinks } from "./links.js";
import type { FetchHandler } from "@acp/host";
import { type Notices, createNotices } from "./notices.js";
import { type Settings, type WebhookChannelOptions, readOptions } from "./options.js";
import type { Reply } from "./post.js";
import { type Question, createQuestions } from "./questions.js";
import { CHANNEL_NAME, type ReceiveParts, SECRET_HOLDER, receive } from "./receive.js";
import { type Send, createSend } from "./send.js";

/** A channel that posts questions to a receiver, and the handler that takes its answers. */
export interface WebhookChannel extends Channel, AsyncDisposable {
  /**
   * Takes answers and serves links. Mount it in any server that uses `Request` and `Response`, or
   * with `toNodeHandler`. Never rejects.
   */
  readonly handler: FetchHandler;
  /**
   * Stops sending and taking answers; open questions stay open at the gate. Messages about ends
   * that are under way get five more seconds.
   */
  close(): Promise<void>;
}

/** A question while this channel works on it. */
interface Asking extends Question {
  /** Aborts when the question is over. */
  readonly over: AbortController;
  /** Whether the receiver may have heard of it. */
  attempted: boolean;
}

/**
 * Hands a reply's answer in. What is not signed and whole decides nothing: the question stays open
 * for a callback.
 */
async function takeReply(
  parts: ReceiveParts,
  { request }: Question,
  { headers, body }: Reply,
): Promise<string | undefined> {
  if (body === undefined) return "it is longer than an answer can be";
  // Nothing said means later.
  if (body.byteLength === 0) return undefined;
  const received = await receive(parts, { headers, body }, request.id);
  if (!received.ok) return received.code;
  return received.receipt.status === "refused"
    ? `${received.receipt.code}, ${received.receipt.reason}`
    : undefined;
}

function asChannelError(error: unknown): ConsentError {
  if (isConsentError(error)) return error;
  return new ConsentError(
    "channel_failed",
    "Cannot deliver the question: it ended before the receiver accepted it",
    { cause: error },
  );
}

/** The parts of one channel. */
interface ChannelParts {
  readonly settings: Settings;
  readonly send: Send;
  readonly receiving: ReceiveParts;
  readonly links: Links | undefined;
  readonly notices: Notices;
  readonly open: Set<Asking>;
}

/** Takes a question down when it is over, however it ended. */
async function watchEnd(
  { receiving, links, notices, open }: ChannelParts,
  asking: Asking,
): Promise<void> {
  const ending = await asking.session.ended;
  open.delete(asking);
  receiving.questions.end(asking);
  links?.end(asking, ending.status);
  asking.over.abort(new Error("the question is over"));
  if (!asking.attempted) return;
  notices.tell(asking.request, ending);
  const outcome = await asking.session.outcome;
  if (outcome !== undefined) notices.tellOutcome(asking.request, outcome);
}

async function deliver(
  parts: ChannelParts,
  request: ConsentRequest,
  session: AskSession,
): Promise<void> {
  const { settings, send, receiving, links, open } = parts;
  const asking: Asking = { request, session, over: new AbortController(), attempted: false };
  const event = questionEvent(request, links?.mint(asking, settings.approvers ?? [SECRET_HOLDER]));
  open.add(asking);
  receiving.questions.put(asking);
  void watchEnd(parts, asking);
  const onAttempt = (): void => void (asking.attempted = true);
  try {
    const problem = await takeReply(
      receiving,
      asking,
      await send(event, { signal: asking.over.signal, onAttempt }),
    );
    if (problem !== undefined)
      settings.sendParts.warn(
        `Cannot accept the reply to question "${request.id}" as an answer: ${problem}`,
      );
  } catch (error) {
    throw asChannelError(error);
  }
}

/**
 * Makes a channel that posts questions to your receiver and takes signed answers.
 *
 * @throws ConsentError `options_invalid` or `host_invalid` where an option is wrong, by itself or
 *   with another one.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { createWebhookChannel } from "@acp/channel-webhook";
 * import { toNodeHandler } from "@acp/host";
 *
 * await using channel = createWebhookChannel({
 *   url: "https://approvals.example.com/acp",
 *   secret, // "whsec_…"
 *   approvers: ["alice"],
 * });
 * createServer(toNodeHandler(channel.handler)).listen(8080); // where answers come in
 * ```
 */
export function createWebhookChannel(options: WebhookChannelOptions): WebhookChannel {
  const settings = readOptions(options);
  const { sendParts, claims, approvers, linkBase } = settings;
  const { keys, clock } = sendParts;
  const receiving: ReceiveParts = {
    keys,
    claims,
    questions: createQuestions(),
    approvers: approvers === undefined ? undefined : new Set(approvers),
    now: () => clock.now(),
  };
  const send = createSend(sendParts);
  const links = linkBase === undefined ? undefined : createLinks(linkBase);
  const parts: ChannelParts = {
    settings,
    send,
    receiving,
    links,
    notices: createNotices(send, sendParts),
    open: new Set(),
  };
  let closed = false;

  const close = async (): Promise<void> => {
    closed = true;
    for (const { over } of parts.open)
      over.abort(
        new ConsentError(
          "channel_unavailable",
          "Cannot ask anybody: the webhook channel is closed",
        ),
      );
    await parts.notices.close();
  };
  return {
    name: CHANNEL_NAME,
    handler: createHandler({
      ...receiving,
      links:
        links === undefined || linkBase === undefined
          ? undefined
          : { links, origin: new URL(linkBase).origin, clock },
      isClosed: () => closed,
    }),
    async deliver(request, session) {
      if (closed)
        throw new ConsentError(
          "channel_unavailable",
          "Cannot ask anybody: the webhook channel is closed",
        );
      if (approvers?.length === 0)
        throw new ConsentError("channel_unavailable", `Cannot ask anybody: "approvers" is empty`);
      await deliver(parts, request, session);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
