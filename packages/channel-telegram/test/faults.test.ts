/**
 * What goes wrong between a real gate, the channel and Telegram: nothing of it may release what
 * nobody approved.
 */
import type { RunResult } from "@acp/core";
import type { BotApiMessage, ManualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { ALICE, BOB, type Chat, STRANGER, openClockedChat, runUntil } from "./chat-kit.js";
import { type Gated, gated } from "./gate-kit.js";

interface Under {
  readonly chat: Chat & { readonly clock: ManualClock };
  readonly gate: Gated;
  /** The question that nobody approves. */
  readonly message: BotApiMessage;
}

const tap = (bot: Chat["bot"], message: BotApiMessage, from = ALICE, label = "Approve"): void => {
  const data = message.buttons.find((button) => button.label.startsWith(label))?.data ?? "";
  bot.tap({ message, from, button: { data } });
};

/** What goes wrong on the way, so that no yes reaches the gate in time. */
const UNHEARD: Readonly<Record<string, (under: Under) => Promise<void> | void>> = {
  "nobody answers": () => undefined,
  "429 for everything": ({ chat: { bot }, message }) => {
    bot.fail({ times: 50, retryAfterS: 20 });
    tap(bot, message, STRANGER);
  },
  "502 for everything": ({ chat: { bot }, message }) => {
    bot.fail({ times: 50, status: 502 });
    tap(bot, message, STRANGER);
  },
  "an outage, and a tap that comes when the question is over": ({ chat: { bot }, message }) => {
    bot.setDown(true);
    tap(bot, message);
  },
  "another program has the updates, and the tap with them": async ({ chat: { bot }, message }) => {
    await fetch(`${bot.apiRoot}/bot${bot.token}/setWebhook?url=http://127.0.0.1:9/`, {
      method: "POST",
    });
    tap(bot, message);
  },
  "another program polls": async ({ chat: { bot } }) => {
    const steal = (): Promise<unknown> =>
      fetch(`${bot.apiRoot}/bot${bot.token}/getUpdates?timeout=1`).catch(() => undefined);
    await Promise.all([steal(), steal()]);
  },
  "the token is revoked, then a tap": ({ chat: { bot }, message }) => {
    bot.revokeToken();
    tap(bot, message);
  },
};

/** What people do that is no yes of an approver. */
const NO_YES: Readonly<Record<string, (under: Under) => Promise<void> | void>> = {
  "strangers and bots tap and write": ({ chat: { bot, chatId }, message }) => {
    for (const from of [STRANGER, BOB, { ...ALICE, isBot: true }]) {
      tap(bot, message, from);
      bot.write({ chatId, from, text: "approve", repliedId: message.id });
    }
  },
  "taps with made-up, empty and cut data": ({ chat: { bot }, message }) => {
    const real = message.buttons[0]?.data ?? "";
    for (const data of [
      "",
      "v1:",
      "v1:AAAAAAAAAAAAAAAAAAAAAA",
      real.slice(0, -1),
      `${real} `,
      real.toLowerCase(),
    ])
      bot.tap({ message, from: ALICE, button: { data } });
  },
  "the button of this question below another message": ({ chat: { bot, chatId }, message }) => {
    const { message: other } = bot.write({ chatId, from: ALICE, text: "hello" });
    bot.tap({ message: other, from: ALICE, button: { data: message.buttons[0]?.data ?? "" } });
  },
  "words that are no yes": ({ chat: { bot, chatId }, message }) => {
    for (const text of ["yes", "ok", "approved", "/approve", "approve!", '{"path": "b"}', "👍"])
      bot.write({ chatId, from: ALICE, text, repliedId: message.id });
    bot.write({ chatId, from: ALICE, text: "approve" });
  },
  "forwarded, edited, automatic, old and channel messages": ({
    chat: { bot, chatId },
    message,
  }) => {
    for (const extra of [
      { forward_date: 9 },
      { sender_chat: { id: -1 } },
      { via_bot: { id: 9 } },
      { edit_date: 9 },
      { date: 9 },
    ])
      bot.write({ chatId, from: ALICE, text: "approve", repliedId: message.id, extra });
    const { message: quoting } = bot.write({
      chatId,
      from: ALICE,
      text: "?",
      repliedId: message.id,
    });
    for (const kind of ["edited_message", "channel_post", "business_message"])
      bot.push(kind, { ...quoting.json, text: "approve" });
  },
  "updates that are none": ({ chat: { bot } }) => {
    for (const value of [
      {},
      { id: 7 },
      { id: "1", from: null, data: "v1:" },
      { id: "2", from: { id: 4711 } },
    ])
      bot.push("callback_query", value);
    bot.push("message", { message_id: 1, text: "approve" });
  },
};

const question = (chat: Chat): BotApiMessage | undefined =>
  chat.messages().find(({ text }) => text.includes("· cr_"));

interface Asked extends Under, AsyncDisposable {
  readonly verdict: Promise<RunResult<string>>;
  isOver(): boolean;
}

/** A question of a real gate that stands in the chat. */
async function asked(): Promise<Asked> {
  const chat = await openClockedChat();
  const gate = gated({ channel: chat.channel, clock: chat.clock });
  let isOver = false;
  const verdict = gate.call({ path: "a" }).finally(() => (isOver = true));
  await runUntil(chat.clock, () => question(chat) !== undefined, 1);
  const message = question(chat);
  if (message === undefined) throw new Error("not asked");
  return {
    chat,
    gate,
    message,
    verdict,
    isOver: () => isOver,
    async [Symbol.asyncDispose]() {
      await gate[Symbol.asyncDispose]();
      await chat[Symbol.asyncDispose]();
    },
  };
}

/** Lets the question's time run out; nothing was released, and a late tap changes nothing. */
async function assertNoRelease(under: Asked): Promise<void> {
  const { chat, gate, message, verdict } = under;
  await runUntil(chat.clock, under.isOver, 5_000);
  chat.bot.setDown(false);
  tap(chat.bot, message);
  await chat.clock.advance(60_000);
  const result = await verdict;
  expect(result.ran ? "ran" : result.verdict.code).toBe("consent_expired");
  expect(gate.released).toEqual([]);
  const said = [
    ...chat.warnings,
    JSON.stringify(gate.events),
    result.ran ? "" : result.verdict.reason,
  ].join("\n");
  expect(said).not.toContain(chat.bot.token.split(":")[1]);
}

describe("fault matrix: 0 unapproved releases", () => {
  it.each(Object.entries(UNHEARD))("%s", async (_name, fault) => {
    await using under = await asked();
    await fault(under);
    await assertNoRelease(under);
  });

  it.each(Object.entries(NO_YES))("%s", async (_name, act) => {
    await using under = await asked();
    await act(under);
    // All of it was taken: the poll that confirms it was made.
    await runUntil(under.chat.clock, () => under.chat.bot.waiting() === 0);
    await assertNoRelease(under);
  });
});

/** Faults on the way of a yes; once it was heard, exactly that is released, once. */
const HEARD: Readonly<Record<string, (under: Under) => Promise<void> | void>> = {
  "the tap, five times and repeated": ({ chat: { bot }, message }) => {
    const { updateId } = bot.tap({ message, from: ALICE, button: { label: "Approve" } });
    for (let i = 0; i < 4; i++) tap(bot, message);
    bot.repeat(updateId);
  },
  "approve and deny at once": ({ chat: { bot }, message }) => {
    tap(bot, message);
    tap(bot, message, ALICE, "Deny");
  },
  "the tap while Telegram answers 502 and 429": ({ chat: { bot }, message }) => {
    bot.fail({ times: 2, status: 502 });
    bot.fail({ times: 2, retryAfterS: 3 });
    tap(bot, message);
  },
  "the tap in an outage that ends": async ({ chat: { bot, clock }, message }) => {
    bot.setDown(true);
    tap(bot, message);
    await clock.advance(20_000);
    bot.setDown(false);
  },
  "updates whose reply is lost on the way": ({ chat: { bot }, message }) => {
    bot.fail({ method: "getUpdates", times: 2, cut: "after" });
    tap(bot, message);
  },
  "the tap after a stranger's": ({ chat: { bot }, message }) => {
    tap(bot, message, STRANGER);
    tap(bot, message);
  },
};

describe("fault matrix: what was approved is released once", () => {
  it.each(Object.entries(HEARD))("%s", async (_name, act) => {
    await using under = await asked();
    await act(under);
    await runUntil(under.chat.clock, under.isOver, 20);
    await under.chat.clock.advance(10_000);
    const result = await under.verdict;
    expect(under.gate.released).toEqual(result.ran ? [{ path: "a" }] : []);
    if (!result.ran) expect(result.verdict.code).toBe("consent_denied");
  });
});
