/**
 * Sheet: a message with buttons, as it looks. Everything on it is plain text of the message: no
 * markup, no links. A yes is offered only for a text that stands in the chat whole.
 */
import {
  type AskSession,
  type ConsentOutcome,
  type ConsentRequest,
  type Ending,
  type JsonObject,
  confirmationWord,
  escapeText,
  sha256Digest,
} from "@acp/core";
import { cutAfter } from "./cut.js";
import { showEdit } from "./edit.js";
import { type Layout, layOut } from "./layout.js";
import type { Sender } from "./update.js";

/** What a button does. */
export type Act =
  | { readonly kind: "approve" | "deny" | "details" | "file" | "confirm" | "keep" }
  | { readonly kind: "lease"; readonly grantId: string };

/** A button. */
export interface Key {
  readonly label: string;
  readonly act: Act;
}

/** A question that is open in the chat. */
export interface Question {
  readonly request: ConsentRequest;
  readonly session: AskSession;
  /** Aborts when the question is over, or the channel closes. */
  readonly over: AbortController;
  /** The messages about it that have buttons; the first is the question itself. */
  readonly sheets: Set<Sheet>;
  /** Answers that are being handed in. */
  readonly answering: Set<Promise<unknown>>;
  /** Whose answer ended it. */
  endedBy?: Sender;
  /** How many said yes, of how many it needs. */
  count?: { readonly have: number; readonly need: number };
}

/** Other arguments, and who wrote them. */
export interface Edit {
  readonly editor: Sender;
  readonly parameters: JsonObject;
}

/** Where a message stands. */
export interface Posted {
  readonly messageId: number;
  /** When it was sent, in seconds, by Telegram's clock. */
  readonly dateS: number;
}

/** A message with buttons. */
export interface Sheet {
  readonly question: Question;
  /** What it proposes to change; `undefined` for the question itself. */
  readonly edit: Edit | undefined;
  /** What must be seen before a yes. */
  readonly body: string;
  /** Settles when it is in the chat, or will not be. */
  posted: Promise<Posted | undefined>;
  /** How its body stands in the chat. */
  seen: "whole" | "in part" | "altered" | "as a file";
}

/** A message: its text and its rows of buttons. */
export interface Drawing extends Layout {
  readonly rows: readonly (readonly Key[])[];
}

/** Offers shown as buttons; all of them stand in the text. */
const OFFERS_MAX = 20;
const OFFER_CHARS_MAX = 40;
const REASON_CHARS_SHOWN = 300;

// Telegram drops these three combining marks from every message: shown as they are, a text would
// lose them on the way to the person.
const DROPPED_MARKS = /[\u030a\u0333\u033f]/g;

/** A text with nothing in it that Telegram would drop. */
export function keepMarks(text: string): string {
  return text.replace(
    DROPPED_MARKS,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A sheet that is not in the chat yet. */
export function makeSheet(question: Question, edit?: Edit): Sheet {
  const { request } = question;
  const body =
    edit === undefined ? request.text : showEdit(request.action.parameters, edit.parameters);
  const sheet: Sheet = {
    question,
    edit,
    body: keepMarks(body),
    posted: Promise.resolve(undefined),
    seen: "in part",
  };
  question.sheets.add(sheet);
  return sheet;
}

/** Why no yes can be taken from a sheet now, or nothing. */
export function whyNoYes({ question, seen }: Sheet): string | undefined {
  if (question.request.evidence === "passkey")
    return "approving this needs a passkey, which Telegram does not have; you can deny it here";
  if (seen === "in part" || seen === "altered")
    return "part of it was not shown; have it sent as a file first";
  return undefined;
}

function yesKeys({ question: { request }, edit }: Sheet): readonly (readonly Key[])[] {
  if (edit !== undefined)
    return [[{ label: "Allow with these changes", act: { kind: "confirm" } }]];
  const leases = request.offers.slice(0, OFFERS_MAX).map(({ id }) => [
    {
      label: `Approve + ${cutAfter(escapeText(id), OFFER_CHARS_MAX)}`,
      act: { kind: "lease", grantId: id },
    } as const,
  ]);
  return [[{ label: "Approve", act: { kind: "approve" } }], ...leases];
}

function rowsOf(sheet: Sheet, isWhole: boolean): readonly (readonly Key[])[] {
  const { request } = sheet.question;
  const noKeys: readonly Key[] =
    sheet.edit === undefined
      ? [
          { label: "Deny", act: { kind: "deny" } },
          { label: "Details", act: { kind: "details" } },
        ]
      : [{ label: "Keep as proposed", act: { kind: "keep" } }];
  if (request.evidence === "passkey") return [noKeys];
  if (!isWhole) return [[{ label: "Send all of it as a file", act: { kind: "file" } }], noKeys];
  return confirmationWord(request) === undefined ? [...yesKeys(sheet), noKeys] : [noKeys];
}

function headingOf({ question, edit }: Sheet): string {
  const { request, session, count } = question;
  if (edit !== undefined)
    return `CHANGED ARGUMENTS by ${showSender(edit.editor)} · nothing is allowed yet`;
  const again = session.redelivery ? ", again after a restart" : "";
  const counted = count === undefined ? "" : ` · ${count.have} of ${count.need} approved`;
  return `${request.policy.requiredLevel.toUpperCase()} · an agent asks for consent${again}${counted}`;
}

/** What the person can do. */
function waysOf(sheet: Sheet, isWhole: boolean): string {
  const { request } = sheet.question;
  const word = confirmationWord(request);
  if (request.evidence === "passkey")
    return "Approving this needs a passkey, which Telegram does not have. You can deny it here.";
  if (!isWhole) return "You can approve this only after the whole of it was sent as a file.";
  if (word !== undefined) return `To allow it, reply to this message with the word ${word}.`;
  return sheet.edit === undefined
    ? `Or reply to this message: deny and why, or all arguments as one JSON object.`
    : "Nobody else can confirm this.";
}

/**
 * The line beside the buttons that says again what this is about, so that nothing above can push it
 * out of view.
 */
function summaryOf({ question: { request }, body }: Sheet): string {
  const lines = body.split("\n").length;
  return keepMarks(
    `↑ ${lines} lines: ${request.action.description} (${request.policy.requiredLevel}) · ${request.id}`,
  );
}

/** Draws a sheet as it is now. */
export function drawSheet(sheet: Sheet): Drawing {
  const digest = sha256Digest(sheet.body);
  const canBeSaid = (hiddenChars: number): boolean =>
    sheet.seen === "as a file" || (hiddenChars === 0 && sheet.seen !== "altered");
  const { text, hiddenChars } = layOut(sheet.body, (hidden) => {
    const where = sheet.seen === "as a file" ? "the file has them" : "not shown here";
    const cut =
      hidden === 0
        ? []
        : [`${hidden} of ${sheet.body.length} characters: ${where}. All of it: ${digest}`];
    const altered =
      sheet.seen === "altered" ? [`Telegram shows this text altered. As it is: ${digest}`] : [];
    const foot = [...cut, ...altered, summaryOf(sheet), waysOf(sheet, canBeSaid(hidden))].join(
      "\n",
    );
    return { heading: headingOf(sheet), foot };
  });
  return { text, hiddenChars, rows: rowsOf(sheet, canBeSaid(hiddenChars)) };
}

/**
 * A person as others see them: what they call themselves is theirs to choose, the number is not.
 */
export function showSender({ name, subject }: Sender): string {
  return name === "" ? subject : `${keepMarks(name)} (${subject})`;
}

const ENDINGS: Readonly<Record<Ending["status"], string>> = {
  approved: "APPROVED",
  approved_with_modifications: "APPROVED WITH CHANGED ARGUMENTS",
  denied: "DENIED",
  expired: "EXPIRED: nobody answered in time, the call was denied",
  cancelled: "WITHDRAWN: the call was not made",
  failed: "FAILED: the call was denied",
  superseded: "REPLACED by a new question",
};

const ANSWERED: ReadonlySet<Ending["status"]> = new Set<Ending["status"]>([
  "approved",
  "approved_with_modifications",
  "denied",
  "superseded",
]);

const OUTCOMES: Readonly<Record<ConsentOutcome["status"], string>> = {
  ran: "IT RAN",
  failed: "IT FAILED",
  not_performed: "IT DID NOT RUN",
  not_collected: "IT DID NOT RUN: nobody collected the answer",
  unknown: "nobody reported whether it ran",
};

/** What became of an approved call. An approval by itself says nothing of that. */
function showOutcome(outcome: ConsentOutcome | undefined): string {
  if (outcome === undefined) return "";
  const { status, detail } = outcome;
  return `\n${OUTCOMES[status]}${detail === "" ? "" : ` (${keepMarks(cutAfter(escapeText(detail), REASON_CHARS_SHOWN))})`}`;
}

/**
 * Draws a question that is over: how it ended, what became of it where that is known, and what it
 * was about.
 */
export function drawEnding(
  { question, body }: Sheet,
  { status, reason }: Ending,
  outcome?: ConsentOutcome,
): Drawing {
  const by = question.endedBy === undefined ? ", elsewhere" : ` by ${showSender(question.endedBy)}`;
  const why =
    reason === "" ? "" : `: ${keepMarks(cutAfter(escapeText(reason), REASON_CHARS_SHOWN))}`;
  const heading = `${ENDINGS[status]}${ANSWERED.has(status) ? by : ""}${why}${showOutcome(outcome)}`;
  const foot = keepMarks(`${question.request.action.description} · ${question.request.id}`);
  const layout = layOut(body, (hidden) => ({
    heading,
    foot:
      hidden === 0
        ? foot
        : `${hidden} of ${body.length} characters are not shown here. All of it: ${sha256Digest(body)}\n${foot}`,
  }));
  return { ...layout, rows: [] };
}
