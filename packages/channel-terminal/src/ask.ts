/**
 * Ask: one question on the screen until it is answered, left or over. Every answer is made for the
 * id that was on the screen when its line was begun, so it cannot reach another question.
 */
import {
  type AnswerParts,
  type AnswerReceipt,
  REASON_CHARS_MAX,
  type RefusalCode,
  confirmationWord,
  escapeText,
  isConsentError,
  makeResponse,
} from "@acp/core";
import type { ApproverClient, OpenQuestion } from "./approver-client.js";
import { type Command, parseCommand } from "./command.js";
import { editArguments } from "./edit.js";
import { type Desk, NOT_KEY_BY_KEY, promptLine } from "./prompt.js";
import { HELP, showDetails, showQuestion, showTimeLeft } from "./question-view.js";

/** How the person and a question parted. */
export type AskOutcome =
  /** Their answer ended it. */
  | "answered"
  /** They said what they can say; it may still be open for others. Do not ask them again. */
  | "done"
  /** Their answer was sent, and the connection was lost before the gate said what became of it. */
  | "unknown"
  /** Left for later. */
  | "next"
  /** It ended without them. */
  | "gone"
  /** Their input ended. */
  | "over";

/** Parts of {@link askQuestion}. */
export interface AskOptions {
  readonly client: ApproverClient;
  readonly question: OpenQuestion;
  /** How many other questions wait. */
  readonly others: () => number;
  /**
   * Called around every answer, so that an end that is this person's own is not told as another's.
   */
  readonly answering: (busy: boolean) => void;
  /** Aborts when the question is over. */
  readonly signal: AbortSignal;
}

interface Asked extends AskOptions {
  readonly desk: Desk;
  shownWhole: boolean;
}

const OVER_CODES: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  "request_ended",
  "request_unknown",
  "already_answered",
]);

function statusOf({ desk, question, others }: Asked): string {
  const left = showTimeLeft(question.request.expiresAtMs - desk.clock.now());
  const more = others();
  return `${left} left${more === 0 ? "" : ` · ${more} more waiting`}`;
}

function takeReceipt({ desk }: Asked, receipt: AnswerReceipt): AskOutcome | undefined {
  const { screen } = desk;
  switch (receipt.status) {
    case "final":
      screen.say(
        `→ ${receipt.outcome.replaceAll("_", " ")}`,
        receipt.outcome === "denied" ? "red" : "green",
      );
      return "answered";
    case "counted":
      screen.say(
        `→ counted: ${receipt.have} of ${receipt.need}; the question stays open for others`,
      );
      return "done";
    case "reshow":
      screen.say("→ the changed call is asked as a new question");
      return "answered";
    case "refused":
      screen.say(`Not accepted: ${escapeText(receipt.reason)} (${receipt.code})`, "yellow");
      return OVER_CODES.has(receipt.code) ? "done" : undefined;
    default:
      return receipt satisfies never;
  }
}

async function submit(
  asked: Asked,
  parts: Pick<AnswerParts, "decision" | "reason" | "modifications" | "grantId" | "confirmation">,
): Promise<AskOutcome | undefined> {
  const { client, desk, question, answering } = asked;
  answering(true);
  try {
    const claim = makeResponse(question.request, {
      ...parts,
      nowMs: desk.clock.now(),
      channel: "terminal",
    });
    return takeReceipt(asked, await client.answer(claim));
  } catch (error) {
    const why = error instanceof Error ? escapeText(error.message) : "the gate is gone";
    if (isConsentError(error, "channel_unavailable")) {
      desk.screen.say(`Not sent: ${why}`, "red");
      return "next";
    }
    desk.screen.say(
      `It is unknown whether your answer counted; the gate's log will show it: ${why}`,
      "red",
    );
    return "unknown";
  } finally {
    answering(false);
  }
}

/** Why the screen cannot take a yes now, or nothing. */
function whyNoYes({ question: { request }, shownWhole }: Asked): string | undefined {
  if (request.evidence === "passkey")
    return "approving this needs a passkey, which a terminal does not have; you can deny it here";
  if (!shownWhole) return "part of the call was not shown; read it with v first";
  return undefined;
}

type Approve = Command & { readonly kind: "approve" };

async function approve(
  asked: Asked,
  command: Approve,
  isKeyByKey: boolean,
): Promise<AskOutcome | undefined> {
  const { screen } = asked.desk;
  const { request } = asked.question;
  const offer = request.offers.find(({ id }) => id === command.offer);
  const why = whyNoYes(asked);
  const word = confirmationWord(request);
  const yes = {
    decision: "approved",
    ...(word === undefined ? {} : { confirmation: command.word }),
  } as const;
  if (why !== undefined) screen.say(`Not approved: ${why}`, "yellow");
  else if (!isKeyByKey) screen.say(`Not approved: ${NOT_KEY_BY_KEY}`, "yellow");
  else if (word !== undefined && command.word !== word)
    screen.say(`Not approved: this is critical, type the whole word ${word}`, "yellow");
  else if (command.offer === "") return submit(asked, yes);
  else if (offer === undefined)
    screen.say(`Not approved: there is no offer "${escapeText(command.offer)}"`, "yellow");
  else return submit(asked, { ...yes, grantId: offer.id });
  return undefined;
}

async function deny(asked: Asked, given: string): Promise<AskOutcome | undefined> {
  let reason = given;
  if (reason === "") {
    asked.desk.screen.say("Why? The agent is told; an empty line gives no reason.");
    const typed = await asked.desk.input.readLine(asked.signal);
    if (typed.kind !== "line") return typed.kind;
    reason = typed.text.trim();
  }
  if (reason.length <= REASON_CHARS_MAX) return submit(asked, { decision: "denied", reason });
  asked.desk.screen.say(
    `Not denied yet: the reason is longer than ${REASON_CHARS_MAX} characters`,
    "yellow",
  );
  return undefined;
}

async function edit(asked: Asked): Promise<AskOutcome | undefined> {
  const why = whyNoYes(asked);
  if (why !== undefined) {
    asked.desk.screen.say(`Not edited: ${why}`, "yellow");
    return undefined;
  }
  const edited = await editArguments(asked.desk, {
    question: asked.question,
    status: () => statusOf(asked),
    signal: asked.signal,
  });
  if (edited.kind !== "confirmed") return edited.kind === "kept" ? undefined : edited.kind;
  const { parameters: modifications, word: confirmation } = edited;
  const isWanted = confirmationWord(asked.question.request) !== undefined;
  return submit(asked, {
    decision: "approved_with_modifications",
    modifications,
    ...(isWanted ? { confirmation } : {}),
  });
}

/** Does what was typed; `undefined` asks again. */
async function obey(
  asked: Asked,
  command: Command,
  isKeyByKey: boolean,
): Promise<AskOutcome | undefined> {
  const { screen } = asked.desk;
  switch (command.kind) {
    case "approve":
      return approve(asked, command, isKeyByKey);
    case "deny":
      return deny(asked, command.reason);
    case "edit":
      return edit(asked);
    case "details":
      showDetails(screen, asked.question);
      asked.shownWhole = true;
      return undefined;
    case "next":
      if (asked.others() > 0) return "next";
      screen.say("There is no other open question.");
      return undefined;
    case "help":
      for (const line of HELP) screen.say(line);
      return undefined;
    case "empty":
      screen.say("An empty line decides nothing: a approves, d denies, ? helps.");
      return undefined;
    case "unknown":
      screen.say(`Unknown command "${escapeText(command.text)}": a approves, d denies, ? helps.`);
      return undefined;
    default:
      return command satisfies never;
  }
}

function keysFor(asked: Asked): string {
  const word = confirmationWord(asked.question.request);
  const yes = word === undefined ? "a approve" : `${word} (the whole word)`;
  return `${yes} · d deny · e edit · v details · n next · ? help`;
}

/** Shows a question and takes commands until it and the person part. */
export async function askQuestion(desk: Desk, options: AskOptions): Promise<AskOutcome> {
  const asked: Asked = {
    ...options,
    desk,
    shownWhole: showQuestion(desk.screen, options.question),
  };
  for (;;) {
    desk.screen.say(keysFor(asked), "bold");
    const typed = await promptLine(desk, {
      label: "> ",
      status: () => statusOf(asked),
      signal: asked.signal,
    });
    if (typed.kind !== "line") return typed.kind;
    const outcome = await obey(asked, parseCommand(typed.text), typed.isKeyByKey);
    if (outcome !== undefined) return outcome;
  }
}
