/**
 * Taps: what a tap on a button does. Whoever tapped always gets an answer; whoever may not decide
 * changes nothing by it.
 */
import { encodeRequest } from "@acp/core";
import { cutAfter } from "./cut.js";
import { type Front, redraw, sendFile, showReceipt, strip, submit } from "./front.js";
import type { Button } from "./keys.js";
import { isTemporary, pause, waitMsAfter } from "./retry.js";
import { type Sheet, keepMarks, whyNoYes } from "./sheet.js";
import type { Sender, Tap } from "./update.js";

/** What the person sees, and whether the button has done what it is there for. */
interface Outcome {
  readonly text: string;
  readonly used: boolean;
}

const ANSWER_CHARS_MAX = 200;
const ANSWER_TRIES_MAX = 3;
/** People who tapped without being approvers that are told of. */
const STRANGERS_MAX = 100;

const unused = (text: string): Outcome => ({ text, used: false });

type Yes =
  | { readonly decision: "approved"; readonly grantId?: string }
  | { readonly decision: "approved_with_modifications" };

async function sayYes(
  front: Front,
  sheet: Sheet,
  { sender, ...yes }: Yes & { readonly sender: Sender },
): Promise<Outcome> {
  const why = whyNoYes(sheet);
  if (why !== undefined) return unused(`Not accepted: ${why}`);
  const modifications = sheet.edit === undefined ? {} : { modifications: sheet.edit.parameters };
  const receipt = await submit(front, sheet.question, { ...yes, ...modifications, sender });
  return { text: showReceipt(receipt), used: receipt.status !== "refused" };
}

async function sendAll(front: Front, sheet: Sheet): Promise<Outcome> {
  if (
    !(await sendFile(front, sheet, {
      name: `${sheet.question.request.id}.txt`,
      type: "text/plain",
      text: sheet.body,
    }))
  )
    return unused("The file could not be sent; nothing has changed");
  sheet.seen = "as a file";
  front.later(redraw(front, sheet));
  return { text: "All of it is in the file below", used: true };
}

async function sendDetails(front: Front, sheet: Sheet): Promise<Outcome> {
  const { request } = sheet.question;
  const text = keepMarks(JSON.stringify(encodeRequest(request), undefined, 2));
  const isSent = await sendFile(front, sheet, {
    name: `${request.id}.json`,
    type: "application/json",
    text,
  });
  return isSent
    ? { text: "The whole question is in the file below", used: true }
    : unused("The file could not be sent; nothing has changed");
}

async function obey(front: Front, { sheet, act }: Button, sender: Sender): Promise<Outcome> {
  switch (act.kind) {
    case "approve":
      return sayYes(front, sheet, { decision: "approved", sender });
    case "lease":
      return sayYes(front, sheet, { decision: "approved", grantId: act.grantId, sender });
    case "confirm":
      return sayYes(front, sheet, { decision: "approved_with_modifications", sender });
    case "deny": {
      const receipt = await submit(front, sheet.question, { decision: "denied", sender });
      return { text: showReceipt(receipt), used: receipt.status !== "refused" };
    }
    case "keep":
      front.later(strip(front, sheet));
      return { text: "Kept as proposed; the question is still open", used: true };
    case "file":
      return sendAll(front, sheet);
    case "details":
      return sendDetails(front, sheet);
    default:
      return act satisfies never;
  }
}

function warnOnce({ settings, strangers }: Front, subject: string): void {
  if (strangers.has(subject) || strangers.size >= STRANGERS_MAX) return;
  strangers.add(subject);
  settings.warn(
    `${subject === "" ? "A bot" : `User ${subject}`}, who is not an approver, tapped a button in Telegram; nothing was decided`,
  );
}

async function judge(front: Front, tap: Tap): Promise<Outcome> {
  const button = front.keys.find(tap.data);
  if (button === undefined)
    return unused(
      "This question is over, or was asked again in a newer message. Nothing was decided",
    );
  const { sheet, usedBy } = button;
  const { subject } = tap.sender;
  const posted = await sheet.posted;
  if (tap.chatId !== front.settings.chatId || tap.messageId !== posted?.messageId)
    return unused("This button belongs to another message. Nothing was decided");
  if (!front.settings.approvers.has(subject)) {
    warnOnce(front, subject);
    return unused("You may not answer this question. It stays open for those who may");
  }
  if (sheet.edit !== undefined && sheet.edit.editor.subject !== subject)
    return unused("Only the person who changed the arguments can confirm the change");
  if (usedBy.has(subject)) return unused("You have used this button already");
  // Marked before anything is waited for: of two taps at once one counts.
  usedBy.add(subject);
  const outcome = await obey(front, button, tap.sender);
  if (!outcome.used) usedBy.delete(subject);
  return outcome;
}

/**
 * Ends the waiting mark on the button; a query lives for seconds only, so that this is not tried
 * for long.
 */
async function answer(
  { api, settings, life }: Front,
  queryId: string,
  { text, used }: Outcome,
): Promise<void> {
  const params = {
    callback_query_id: queryId,
    text: cutAfter(text, ANSWER_CHARS_MAX),
    show_alert: !used,
  };
  for (let failures = 0; failures < ANSWER_TRIES_MAX; failures++) {
    const reply = await api({ method: "answerCallbackQuery", params, signal: life });
    if (
      reply.ok ||
      !isTemporary(reply) ||
      !(await pause(settings.clock, waitMsAfter(reply, failures), life))
    )
      return;
  }
}

/** Takes a tap; resolves when it was judged. */
export async function takeTap(front: Front, tap: Tap): Promise<void> {
  const outcome = await judge(front, tap).catch(() =>
    unused("The gate failed, so it is unknown whether your answer counted"),
  );
  front.later(answer(front, tap.queryId, outcome));
}
