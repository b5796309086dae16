/** Front: what the parts of the channel share, and how they write into the chat. */
import {
  type AnswerParts,
  type AnswerReceipt,
  type JsonObject,
  type JsonValue,
  escapeText,
  makeResponse,
} from "@acp/core";
import type { ApiReply, BotApi, UploadedText } from "./bot-api.js";
import { cutAfter } from "./cut.js";
import { integerAt, textAt } from "./json.js";
import type { Keys } from "./keys.js";
import { MESSAGE_UNITS_MAX } from "./layout.js";
import type { Settings } from "./options.js";
import type { Outbox } from "./outbox.js";
import {
  type Drawing,
  type Posted,
  type Question,
  type Sheet,
  drawSheet,
  keepMarks,
} from "./sheet.js";
import type { Sender } from "./update.js";

/** The channel's name. */
export const NAME = "telegram";

/** What the parts of the channel share. */
export interface Front {
  readonly settings: Settings;
  readonly api: BotApi;
  readonly outbox: Outbox;
  readonly keys: Keys;
  /** The sheets in the chat by message, for replies. */
  readonly sheets: Map<number, Sheet>;
  /** Messages whose question is over, so that a late reply is told so. */
  readonly ended: Set<number>;
  /** Who tapped without being an approver, so that it is told once. */
  readonly strangers: Set<string>;
  /** Sheets on their way into the chat. */
  readonly posting: Set<Promise<unknown>>;
  /** Ends everything that is under way. */
  readonly life: AbortSignal;
  /** Keeps an eye on work that nobody waits for. */
  readonly later: (work: Promise<unknown>) => void;
}

/**
 * A message's text as parameters: one block that clients show as it is, without links, mentions and
 * commands, and without a preview.
 */
export function textParams(text: string): JsonObject {
  return {
    text,
    entities: [{ type: "pre", offset: 0, length: text.length }],
    link_preview_options: { is_disabled: true },
  };
}

const replyTo = (messageId: number): JsonObject => ({
  reply_parameters: { message_id: messageId, allow_sending_without_reply: true },
});

function readPosted(reply: ApiReply): Posted | undefined {
  if (!reply.ok) return undefined;
  const messageId = integerAt(reply.result, "message_id");
  const dateS = integerAt(reply.result, "date");
  return messageId === undefined || dateS === undefined ? undefined : { messageId, dateS };
}

/** Whether the chat has the text that was sent: Telegram drops and trims characters. */
const isUnaltered = (result: JsonValue, { text }: Drawing): boolean =>
  textAt(result, "text") === text;

async function send(
  front: Front,
  sheet: Sheet,
  underMessage: number | undefined,
): Promise<ApiReply> {
  const { settings, keys, outbox } = front;
  const drawing = drawSheet(sheet);
  const reply = await outbox({
    method: "sendMessage",
    params: {
      chat_id: settings.chatId,
      ...textParams(drawing.text),
      reply_markup: keys.issue(sheet, drawing.rows),
      ...(underMessage === undefined ? {} : replyTo(underMessage)),
    },
    signal: sheet.question.over.signal,
  });
  const posted = readPosted(reply);
  if (!reply.ok || posted === undefined)
    return reply.ok ? { ok: false, status: 0, why: "the reply names no message" } : reply;
  if (!isUnaltered(reply.result, drawing)) sheet.seen = "altered";
  else if (drawing.hiddenChars === 0) sheet.seen = "whole";
  front.sheets.set(posted.messageId, sheet);
  if (sheet.seen === "altered") front.later(redraw(front, sheet));
  return reply;
}

/** Puts a sheet into the chat. */
export async function post(front: Front, sheet: Sheet, underMessage?: number): Promise<ApiReply> {
  const sent = send(front, sheet, underMessage);
  sheet.posted = sent.then(readPosted);
  front.posting.add(sheet.posted);
  try {
    return await sent;
  } finally {
    front.posting.delete(sheet.posted);
  }
}

/** Changes a sheet in the chat to what it is now. */
export async function redraw(front: Front, sheet: Sheet): Promise<void> {
  const posted = await sheet.posted;
  const { over } = sheet.question;
  if (posted === undefined || over.signal.aborted) return;
  const drawing = drawSheet(sheet);
  await front.outbox({
    method: "editMessageText",
    params: {
      chat_id: front.settings.chatId,
      message_id: posted.messageId,
      ...textParams(drawing.text),
      reply_markup: front.keys.issue(sheet, drawing.rows),
    },
    signal: over.signal,
  });
}

/** Takes the buttons off a sheet that means nothing any more. */
export async function strip(front: Front, sheet: Sheet): Promise<void> {
  front.keys.revoke(sheet);
  sheet.question.sheets.delete(sheet);
  const posted = await sheet.posted;
  if (posted === undefined) return;
  front.sheets.delete(posted.messageId);
  await front.outbox({
    method: "editMessageReplyMarkup",
    params: { chat_id: front.settings.chatId, message_id: posted.messageId },
    signal: front.life,
  });
}

/** Says something to a person who wrote. */
export function say(front: Front, messageId: number, text: string): void {
  const params = {
    chat_id: front.settings.chatId,
    ...textParams(cutAfter(keepMarks(escapeText(text)), MESSAGE_UNITS_MAX)),
    ...replyTo(messageId),
  };
  front.later(front.outbox({ method: "sendMessage", params, signal: front.life }));
}

/** Sends a text as a file below a sheet; whether the chat has it. */
export async function sendFile(
  front: Front,
  sheet: Sheet,
  document: UploadedText,
): Promise<boolean> {
  const posted = await sheet.posted;
  if (posted === undefined) return false;
  const reply = await front.outbox({
    method: "sendDocument",
    params: { chat_id: front.settings.chatId, ...replyTo(posted.messageId) },
    document,
    signal: sheet.question.over.signal,
  });
  return reply.ok;
}

/** Hands an answer in, in the name of the person whom Telegram authenticated. */
export async function submit(
  front: Front,
  question: Question,
  answer: Pick<
    AnswerParts,
    "decision" | "reason" | "modifications" | "grantId" | "confirmation"
  > & { readonly sender: Sender },
): Promise<AnswerReceipt> {
  const { sender, ...parts } = answer;
  const { subject } = sender;
  const claim = makeResponse(question.request, {
    ...parts,
    nowMs: front.settings.clock.now(),
    channel: NAME,
    approverId: subject,
  });
  const answering = question.session.submit(claim, { subject });
  question.answering.add(answering);
  try {
    const receipt = await answering;
    if (receipt.status === "final" || receipt.status === "reshow") question.endedBy = sender;
    if (receipt.status === "counted") {
      question.count = receipt;
      for (const sheet of question.sheets)
        if (sheet.edit === undefined) front.later(redraw(front, sheet));
    }
    return receipt;
  } finally {
    question.answering.delete(answering);
  }
}

/** What a receipt says to the person. */
export function showReceipt(receipt: AnswerReceipt): string {
  switch (receipt.status) {
    case "final":
      return `Taken: ${receipt.outcome.replaceAll("_", " ")}`;
    case "counted":
      return `Counted: ${receipt.have} of ${receipt.need}; the question stays open for others`;
    case "reshow":
      return "The changed call is asked as a new question";
    case "refused":
      return `Not accepted: ${escapeText(receipt.reason)}. The question is unchanged`;
    default:
      return receipt satisfies never;
  }
}
