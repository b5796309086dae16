import { type ConsentRequest, parseResponse } from "@acp/core";
import { describe, expect, it } from "vitest";
import {
  ALICE,
  BOB,
  type Chat,
  GROUP,
  PATIENCE,
  STRANGER,
  openChat,
  openGroup,
} from "../test/chat-kit.js";

const critical = { policy: { ruleId: "rule_1", ruleName: "", requiredLevel: "critical" } } as const;
const edited = '{"path": "notes.txt", "content": "bye"}';

/**
 * Waits until the channel has taken every update and said what it had to say about an unrelated
 * reply.
 */
async function settled(chat: Chat): Promise<void> {
  await expect.poll(() => chat.bot.waiting(), PATIENCE).toBeLessThanOrEqual(1);
  const ask = await chat.ask();
  await chat.replied(chat.reply(ask.message, "?"));
}

describe("a reply", () => {
  it("of the word approves", async () => {
    await using chat = await openChat();
    const ask = await chat.ask();
    chat.reply(ask.message, "Approve");
    await expect.poll(() => ask.ending()?.status, PATIENCE).toBe("approved");
    expect(ask.submissions).toMatchObject([{ subject: "4711", claim: { decision: "approved" } }]);
    expect(ask.submissions[0]?.claim).not.toHaveProperty("confirmation");
  });

  it("of the word is what a critical question takes, and is handed on as typed", async () => {
    await using chat = await openChat();
    const ask = await chat.ask(critical);
    expect(ask.message.buttons.map(({ label }) => label)).toEqual(["Deny", "Details"]);
    await chat.replied(chat.reply(ask.message, "yes"));
    expect(ask.submissions).toEqual([]);
    chat.reply(ask.message, "APPROVE");
    await expect.poll(() => ask.ending()?.status, PATIENCE).toBe("approved");
    expect(ask.submissions[0]?.claim).toMatchObject({ confirmation: "approve" });
  });

  it("denies with a reason", async () => {
    await using chat = await openChat();
    const ask = await chat.ask();
    chat.reply(ask.message, "deny: not\nbefore Monday");
    await expect
      .poll(() => ask.ending(), PATIENCE)
      .toEqual({ status: "denied", reason: "not\nbefore Monday" });
    await expect
      .poll(() => ask.now().text, PATIENCE)
      .toMatch(/^DENIED by Alice \(4711\): not\\u000abefore Monday\n/);
  });

  it("with a reason that is too long is told so, and denies nothing yet", async () => {
    await using chat = await openChat();
    const ask = await chat.ask();
    const words = chat.reply(ask.message, `deny ${"x".repeat(1_001)}`);
    expect((await chat.replied(words)).text).toBe(
      "Not denied yet: the reason is longer than 1000 characters",
    );
    expect(ask.submissions).toEqual([]);
  });

  it.each(["ok", "wait a moment", "/approve", "approve, I think"])(
    "of other words (%j) is told what counts, and decides nothing",
    async (words) => {
      await using chat = await openChat();
      const ask = await chat.ask();
      const answer = await chat.replied(chat.reply(ask.message, words));
      expect(answer.text).toContain('Not accepted: a reply is "approve"');
      expect(answer.entities).toEqual(["pre"]);
      expect(ask.submissions).toEqual([]);
    },
  );

  it("of somebody else in the chat is passed over in silence", async () => {
    await using chat = await openGroup();
    const ask = await chat.ask();
    const theirs = ["approve", "deny", edited, "hello"].map((text) =>
      chat.reply(ask.message, text, STRANGER),
    );
    const bots = [chat.reply(ask.message, "approve", { ...ALICE, isBot: true })];
    await settled(chat);
    expect(ask.submissions).toEqual([]);
    for (const message of [...theirs, ...bots]) expect(chat.repliesTo(message)).toEqual([]);
  });

  it.each<[string, Parameters<Chat["bot"]["write"]>[0]["extra"]]>([
    ["was forwarded", { forward_origin: { type: "user", date: 9 }, forward_date: 9 }],
    ["was sent in the name of a chat", { sender_chat: { id: -1, type: "channel" } }],
    ["came by way of another bot", { via_bot: { id: 5, is_bot: true, first_name: "b" } }],
    ["is older than the question", { date: 1_000_000_000 }],
  ])("that %s decides nothing", async (_what, extra = {}) => {
    await using chat = await openChat();
    const ask = await chat.ask();
    chat.bot.write({
      chatId: chat.chatId,
      from: ALICE,
      text: "approve",
      repliedId: ask.message.id,
      extra,
    });
    await settled(chat);
    expect(ask.submissions).toEqual([]);
  });

  it("that is none, or edited, or posted to a channel decides nothing", async () => {
    await using chat = await openChat();
    const ask = await chat.ask();
    chat.bot.write({ chatId: chat.chatId, from: ALICE, text: "approve" });
    const { message } = chat.bot.write({
      chatId: chat.chatId,
      from: ALICE,
      text: "hello",
      repliedId: ask.message.id,
    });
    for (const kind of ["edited_message", "channel_post", "edited_channel_post"])
      chat.bot.push(kind, { ...message.json, text: "approve" });
    await settled(chat);
    expect(ask.submissions).toEqual([]);
  });

  it("to a message of the same number in another chat decides nothing", async () => {
    await using chat = await openChat();
    const ask = await chat.ask();
    chat.bot.write({
      chatId: chat.chatId,
      from: ALICE,
      text: "approve",
      repliedId: ask.message.id,
      extra: { chat: { id: GROUP, type: "supergroup" } },
    });
    await settled(chat);
    expect(ask.submissions).toEqual([]);
  });

  it("to another question's message answers that one", async () => {
    await using chat = await openChat();
    const [first, second] = [await chat.ask(), await chat.ask()];
    chat.reply(second.message, "deny");
    await expect.poll(() => second.ending()?.status, PATIENCE).toBe("denied");
    chat.reply(first.message, "approve");
    await expect.poll(() => first.ending()?.status, PATIENCE).toBe("approved");
    expect([first.submissions.length, second.submissions.length]).toEqual([1, 1]);
  });

  it("after the end is told so, and does nothing", async () => {
    await using chat = await openChat();
    const ask = await chat.ask();
    ask.end({ status: "expired", reason: "" });
    await expect.poll(() => ask.now().buttons, PATIENCE).toEqual([]);
    const late = chat.reply(ask.message, "approve");
    expect((await chat.replied(late)).text).toBe("Not accepted: this question is over");
    expect(ask.submissions).toEqual([]);
  });

  it("that the gate refuses is told why", async () => {
    await using chat = await openChat();
    const submit = async () =>
      ({ status: "refused", code: "store_failed", reason: "the store\u202e failed" }) as const;
    const ask = await chat.ask(
      {},
      {
        session: {
          redelivery: false,
          ended: new Promise<never>(() => undefined),
          outcome: new Promise<never>(() => undefined),
          submit,
        },
      },
    );
    const answer = await chat.replied(chat.reply(ask.message, "approve"));
    expect(answer.text).toBe("Not accepted: the store\\u202e failed. The question is unchanged");
  });
});

describe("an edit", () => {
  async function editing(chat: Chat, overrides: Partial<ConsentRequest> = {}, from = ALICE) {
    const ask = await chat.ask(overrides);
    const words = chat.reply(ask.message, edited, from);
    return { ask, words, shown: await chat.replied(words) };
  }

  it("is shown with what it changes, and wants a second tap", async () => {
    await using chat = await openChat();
    const { ask, shown } = await editing(chat);
    expect(shown.text).toContain("CHANGED ARGUMENTS by Alice (4711) · nothing is allowed yet");
    expect(shown.text).toContain(
      '    "path": "notes.txt",\n-   "content": "hello"\n+   "content": "bye"\n  }',
    );
    expect(ask.submissions).toEqual([]);
    await chat.tap(shown, "Allow with these changes");
    expect(parseResponse(ask.submissions[0]?.claim)).toMatchObject({
      decision: "approved_with_modifications",
      modifications: { path: "notes.txt", content: "bye" },
    });
    await expect
      .poll(() => ask.now().text, PATIENCE)
      .toMatch(/^APPROVED WITH CHANGED ARGUMENTS by Alice/);
    await expect
      .poll(
        () =>
          chat
            .repliesTo(ask.message)
            .concat(chat.messages())
            .some(({ buttons }) => buttons.length > 0),
        PATIENCE,
      )
      .toBe(false);
  });

  it.each([
    ['{"path": "a", "path": "b"}', "Not changed: Cannot"],
    ["{“path”: “a”}", "Not changed: Cannot"],
    ['{"path": 9007199254740993}', "Not changed: Cannot"],
    ['{"content": "hello", "path": "notes.txt"}', "Not changed: the arguments are unchanged"],
  ])("of %s is refused with the reason", async (json, why) => {
    await using chat = await openChat();
    const ask = await chat.ask();
    const answer = await chat.replied(chat.reply(ask.message, json));
    expect(answer.text).toContain(why);
    expect(answer.buttons).toEqual([]);
  });

  it("can be kept as proposed, and the question stays open", async () => {
    await using chat = await openChat();
    const { ask, words, shown } = await editing(chat);
    await chat.tap(shown, "Keep as proposed");
    await expect.poll(() => chat.repliesTo(words)[0]?.buttons, PATIENCE).toEqual([]);
    expect(ask.submissions).toEqual([]);
    await chat.tap(ask.message, "Approve");
    expect(ask.submissions).toMatchObject([
      { claim: { decision: "approved", modifications: null } },
    ]);
    await expect.poll(() => ask.now().text, PATIENCE).toMatch(/^APPROVED/);
    await chat.channel.close();
    expect(chat.bot.calls.filter(({ method }) => method === "editMessageReplyMarkup")).toHaveLength(
      1,
    );
  });

  it("is confirmed by the one who wrote it alone", async () => {
    await using chat = await openGroup();
    const { ask, shown } = await editing(chat, {}, BOB);
    expect((await chat.tap(shown, "Allow", ALICE)).text).toBe(
      "Only the person who changed the arguments can confirm the change",
    );
    expect((await chat.tap(shown, "Allow", STRANGER)).text).toContain("You may not answer");
    expect((await chat.replied(chat.reply(shown, "approve", ALICE))).text).toContain(
      "only the person who changed",
    );
    expect(ask.submissions).toEqual([]);
    await chat.tap(shown, "Allow", BOB);
    expect(ask.submissions).toMatchObject([{ subject: "4712" }]);
  });

  it("takes the place of an earlier one of the same person", async () => {
    await using chat = await openChat();
    const { ask, shown } = await editing(chat);
    const second = chat.reply(ask.message, '{"path": "c.txt"}');
    const newer = await chat.replied(second);
    const data = shown.buttons[0]?.data ?? "";
    expect(
      (await chat.bot.tap({ message: shown, from: ALICE, button: { data } }).answer).isAlert,
    ).toBe(true);
    expect(ask.submissions).toEqual([]);
    await chat.tap(newer, "Allow");
    expect(ask.submissions).toMatchObject([{ claim: { modifications: { path: "c.txt" } } }]);
  });

  it("of a critical call takes the typed word under the changed arguments", async () => {
    await using chat = await openChat();
    const { ask, shown } = await editing(chat, critical);
    expect(shown.buttons.map(({ label }) => label)).toEqual(["Keep as proposed"]);
    chat.reply(shown, "approve");
    await expect.poll(() => ask.ending()?.status, PATIENCE).toBe("approved_with_modifications");
    expect(ask.submissions[0]?.claim).toMatchObject({
      confirmation: "approve",
      modifications: { content: "bye" },
    });
  });

  it("is over with its question", async () => {
    await using chat = await openChat();
    const { ask, words, shown } = await editing(chat);
    ask.end({ status: "cancelled", reason: "" });
    await expect.poll(() => chat.repliesTo(words)[0]?.buttons, PATIENCE).toEqual([]);
    const data = shown.buttons[0]?.data ?? "";
    expect(
      (await chat.bot.tap({ message: shown, from: ALICE, button: { data } }).answer).text,
    ).toContain("This question is over");
    expect(ask.submissions).toEqual([]);
  });

  it("cannot be made of a call that was not shown whole", async () => {
    await using chat = await openChat();
    const ask = await chat.ask({ text: "x".repeat(9_000) });
    expect((await chat.replied(chat.reply(ask.message, edited))).text).toContain(
      "Not changed: part of it was not shown",
    );
  });
});
