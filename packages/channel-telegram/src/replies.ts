/**
 * Replies: what words in reply to a message of ours do. Words of whoever may not decide, and words
 * under other messages, do nothing.
 */
import { confirmationWord } from "@acp/core";
import { type Front, post, say, showReceipt, strip, submit } from "./front.js";
import { readArguments, whyNoReason } from "./edit.js";
import { type Sheet, makeSheet, whyNoYes } from "./sheet.js";
import type { Reply } from "./update.js";
import { WORDS_HELP, readWords } from "./words.js";

async function approve(
  front: Front,
  sheet: Sheet,
  { reply, typed }: { readonly reply: Reply; readonly typed: string },
): Promise<void> {
  const { question, edit } = sheet;
  const { sender, messageId } = reply;
  const isAnothers = edit !== undefined && edit.editor.subject !== sender.subject;
  const why = isAnothers
    ? "only the person who changed the arguments can confirm the change"
    : whyNoYes(sheet);
  if (why !== undefined) return say(front, messageId, `Not accepted: ${why}`);
  const confirmation =
    confirmationWord(question.request) === undefined ? {} : { confirmation: typed };
  const yes =
    edit === undefined
      ? ({ decision: "approved" } as const)
      : ({ decision: "approved_with_modifications", modifications: edit.parameters } as const);
  const receipt = await submit(front, question, { ...yes, ...confirmation, sender });
  if (receipt.status !== "final") say(front, messageId, showReceipt(receipt));
}

async function deny(
  front: Front,
  { question }: Sheet,
  { reply, reason }: { readonly reply: Reply; readonly reason: string },
): Promise<void> {
  const why = whyNoReason(reason);
  if (why !== undefined) return say(front, reply.messageId, `Not denied yet: ${why}`);
  const receipt = await submit(front, question, {
    decision: "denied",
    reason,
    sender: reply.sender,
  });
  if (receipt.status !== "final") say(front, reply.messageId, showReceipt(receipt));
}

/** Shows what the written arguments change; they wait for a second yes of the same person. */
function proposeEdit(
  front: Front,
  { question }: Sheet,
  { reply, json }: { readonly reply: Reply; readonly json: string },
): void {
  const [first] = question.sheets;
  const why = first === undefined ? undefined : whyNoYes(first);
  const parameters = readArguments(json, question.request.action.parameters);
  if (why !== undefined) return say(front, reply.messageId, `Not changed: ${why}`);
  if (typeof parameters === "string")
    return say(front, reply.messageId, `Not changed: ${parameters}`);
  for (const sheet of question.sheets) {
    if (sheet.edit?.editor.subject !== reply.sender.subject) continue;
    front.later(strip(front, sheet));
  }
  front.later(
    post(front, makeSheet(question, { editor: reply.sender, parameters }), reply.messageId),
  );
}

async function sheetOf(front: Front, { repliedId }: Reply): Promise<Sheet | undefined> {
  const known = front.sheets.get(repliedId);
  if (known !== undefined || front.ended.has(repliedId)) return known;
  // It may be under a message that is in the chat before we are told so.
  await Promise.allSettled(front.posting);
  return front.sheets.get(repliedId);
}

/** Takes a reply; resolves when it was judged. */
export async function takeReply(front: Front, reply: Reply): Promise<void> {
  const { settings, ended } = front;
  if (reply.chatId !== settings.chatId || !settings.approvers.has(reply.sender.subject)) return;
  const sheet = await sheetOf(front, reply);
  if (sheet === undefined) {
    if (ended.has(reply.repliedId))
      say(front, reply.messageId, "Not accepted: this question is over");
    return;
  }
  const posted = await sheet.posted;
  if (posted === undefined || reply.dateS < posted.dateS) return;
  const words = readWords(reply.text);
  switch (words.kind) {
    case "approve":
      return approve(front, sheet, { reply, typed: words.typed });
    case "deny":
      return deny(front, sheet, { reply, reason: words.reason });
    case "edit":
      return proposeEdit(front, sheet, { reply, json: words.json });
    case "unclear":
      return say(front, reply.messageId, `Not accepted: ${WORDS_HELP}`);
    default:
      return words satisfies never;
  }
}
