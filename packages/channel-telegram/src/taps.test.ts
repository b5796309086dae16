import { describe, expect, it } from "vitest";
import { ALICE, BOB, GROUP, PATIENCE, STRANGER, openChat, openGroup } from "../test/chat-kit.js";

const offers = [
  { id: "tool-10m", scope: { kind: "tool", server: "files", name: "write_file" }, ttlMs: 600_000 },
] as const;
const long = { text: `Agent: agent-1\n${"x".repeat(9_000)}\nDigest: sha256:0` };
const critical = { policy: { ruleId: "rule_1", ruleName: "", requiredLevel: "critical" } } as const;

describe("a tap", () => {
  it("approves in the name of the user who tapped", async () => {
    await using chat = await openChat();
    const ask = await chat.ask();
    expect(await chat.tap(ask.message, "Approve")).toEqual({
      text: "Taken: approved",
      isAlert: false,
    });
    expect(ask.submissions).toMatchObject([
      {
        subject: "4711",
        claim: { decision: "approved", approver: { id: "4711", channel: "telegram" } },
      },
    ]);
    await expect.poll(() => ask.now().text, PATIENCE).toMatch(/^APPROVED by Alice \(4711\)\n/);
    expect(ask.now().buttons).toEqual([]);
  });

  it("denies", async () => {
    await using chat = await openChat();
    const ask = await chat.ask();
    expect(await chat.tap(ask.message, "Deny")).toEqual({ text: "Taken: denied", isAlert: false });
    await expect.poll(() => ask.now().text, PATIENCE).toMatch(/^DENIED by Alice \(4711\)\n/);
  });

  it("takes an offer", async () => {
    await using chat = await openChat();
    const ask = await chat.ask({ offers });
    await chat.tap(ask.message, "Approve + tool-10m");
    expect(ask.submissions).toMatchObject([
      { claim: { decision: "approved", grant: "tool-10m", conditions: { single_use: false } } },
    ]);
  });

  it("on details sends the question as a file, and decides nothing", async () => {
    await using chat = await openChat();
    const ask = await chat.ask();
    expect((await chat.tap(ask.message, "Details")).isAlert).toBe(false);
    const { file } = await chat.replied(ask.message);
    expect(file?.name).toBe(`${ask.request.id}.json`);
    expect(JSON.parse(file?.text ?? "")).toMatchObject({
      id: ask.request.id,
      nonce: ask.request.nonce,
      text: ask.request.text,
    });
    expect(ask.submissions).toEqual([]);
  });

  it("of somebody else in the chat decides nothing, says so, and leaves the question open", async () => {
    await using chat = await openGroup();
    const ask = await chat.ask();
    for (const label of ["Approve", "Deny", "Details"])
      expect(await chat.tap(ask.message, label, STRANGER)).toEqual({
        text: "You may not answer this question. It stays open for those who may",
        isAlert: true,
      });
    for (const from of [{ ...ALICE, isBot: true }, { id: GROUP }, { id: -ALICE.id }])
      expect((await chat.tap(ask.message, "Approve", from)).isAlert).toBe(true);
    expect(ask.submissions).toEqual([]);
    expect(chat.repliesTo(ask.message)).toEqual([]);
    expect(chat.warnings).toEqual(
      ["User 6666", "A bot"].map(
        (who) => `${who}, who is not an approver, tapped a button in Telegram; nothing was decided`,
      ),
    );
    await chat.tap(ask.message, "Approve", BOB);
    expect(ask.submissions).toMatchObject([{ subject: "4712" }]);
  });

  it("of a user in a private chat that is not theirs decides nothing", async () => {
    await using chat = await openChat({ approvers: [String(BOB.id)] });
    const ask = await chat.ask();
    expect((await chat.tap(ask.message, "Approve", ALICE)).isAlert).toBe(true);
    expect(ask.submissions).toEqual([]);
  });

  it("with another question's button does nothing, also where it stands below an open question", async () => {
    await using chat = await openChat();
    const [first, second] = [await chat.ask(), await chat.ask()];
    const data = first.message.buttons[0]?.data ?? "";
    const moved = await chat.bot.tap({ message: second.message, from: ALICE, button: { data } })
      .answer;
    expect(moved).toEqual({
      text: "This button belongs to another message. Nothing was decided",
      isAlert: true,
    });
    expect([first.submissions, second.submissions]).toEqual([[], []]);
  });

  it("with the right data from another chat does nothing", async () => {
    await using chat = await openChat({ chats: [{ id: ALICE.id }, { id: GROUP }] });
    const ask = await chat.ask();
    const { message } = chat.bot.write({ chatId: GROUP, from: ALICE, text: "hello" });
    const [button] = ask.message.buttons;
    const answer = await chat.bot.tap({
      message,
      from: ALICE,
      button: { data: button?.data ?? "" },
    }).answer;
    expect([answer.text, ask.submissions]).toEqual([
      "This button belongs to another message. Nothing was decided",
      [],
    ]);
  });

  it("below a message of the same number in another chat does nothing", async () => {
    await using chat = await openChat();
    const ask = await chat.ask();
    const message = { ...ask.message.json, chat: { id: GROUP, type: "supergroup" } };
    const from = { id: ALICE.id, is_bot: false, first_name: "Alice" };
    const updateId = chat.bot.push("callback_query", {
      id: "x",
      from,
      chat_instance: "1",
      message,
      data: ask.message.buttons[0]?.data ?? "",
    });
    await expect
      .poll(() => chat.bot.calls.some(({ method }) => method === "answerCallbackQuery"), PATIENCE)
      .toBe(true);
    expect([updateId > 0, ask.submissions]).toEqual([true, []]);
  });

  it.each(["", "v1:", "approve", "v1:AAAAAAAAAAAAAAAAAAAAAA"])(
    "with made-up data %j does nothing, and is answered",
    async (data) => {
      await using chat = await openChat();
      const ask = await chat.ask();
      expect(
        await chat.bot.tap({ message: ask.message, from: ALICE, button: { data } }).answer,
      ).toEqual({
        text: "This question is over, or was asked again in a newer message. Nothing was decided",
        isAlert: true,
      });
      expect(ask.submissions).toEqual([]);
    },
  );

  it("after the end is told so", async () => {
    await using chat = await openChat();
    const ask = await chat.ask();
    ask.end({ status: "expired", reason: "" });
    await expect.poll(() => ask.now().buttons, PATIENCE).toEqual([]);
    const [button] = ask.message.buttons;
    const late = await chat.bot.tap({
      message: ask.message,
      from: ALICE,
      button: { data: button?.data ?? "" },
    }).answer;
    expect([late.text, ask.submissions]).toEqual([
      "This question is over, or was asked again in a newer message. Nothing was decided",
      [],
    ]);
  });

  it("counts once for everybody, and the others' tap still counts", async () => {
    await using chat = await openGroup();
    const submitted: string[] = [];
    const ended = new Promise<never>(() => undefined);
    const ask = await chat.ask(
      { quorum: 2 },
      {
        session: {
          redelivery: false,
          outcome: new Promise<never>(() => undefined),
          ended,
          submit: async (_claim, by) => {
            submitted.push(by?.subject ?? "");
            return { status: "counted", have: submitted.length, need: 3 };
          },
        },
      },
    );
    expect(await chat.tap(ask.message, "Approve", ALICE)).toMatchObject({
      text: "Counted: 1 of 3; the question stays open for others",
      isAlert: false,
    });
    await expect.poll(() => ask.now().text, PATIENCE).toContain("· 1 of 3 approved");
    expect((await chat.tap(ask.now(), "Approve", ALICE)).text).toBe(
      "You have used this button already",
    );
    await chat.tap(ask.message, "Approve", BOB);
    expect(submitted).toEqual(["4711", "4712"]);
  });

  it("of which two came at once counts once", async () => {
    await using chat = await openChat();
    const ask = await chat.ask();
    const taps = await Promise.all(
      Array.from({ length: 5 }, () => chat.tap(ask.message, "Approve")),
    );
    expect(taps.filter(({ isAlert }) => !isAlert)).toHaveLength(1);
    expect(ask.submissions).toHaveLength(1);
  });

  it("that the gate refuses is told why, and can be made again", async () => {
    await using chat = await openChat();
    let tries = 0;
    const ended = new Promise<never>(() => undefined);
    const submit = async () =>
      tries++ === 0
        ? ({ status: "refused", code: "store_failed", reason: "the store failed" } as const)
        : ({ status: "final", outcome: "approved" } as const);
    const ask = await chat.ask(
      {},
      {
        session: { redelivery: false, outcome: new Promise<never>(() => undefined), ended, submit },
      },
    );
    expect(await chat.tap(ask.message, "Approve")).toEqual({
      text: "Not accepted: the store failed. The question is unchanged",
      isAlert: true,
    });
    expect(await chat.tap(ask.message, "Approve")).toEqual({
      text: "Taken: approved",
      isAlert: false,
    });
  });

  it("is answered also where the gate breaks", async () => {
    await using chat = await openChat();
    const submit = () => Promise.reject(new Error("broken"));
    const ask = await chat.ask(
      {},
      {
        session: {
          redelivery: false,
          outcome: new Promise<never>(() => undefined),
          ended: new Promise<never>(() => undefined),
          submit,
        },
      },
    );
    expect(await chat.tap(ask.message, "Approve")).toEqual({
      text: "The gate failed, so it is unknown whether your answer counted",
      isAlert: true,
    });
  });

  it("is answered also where Telegram fails at first", async () => {
    await using chat = await openChat();
    const ask = await chat.ask();
    chat.bot.fail({ method: "answerCallbackQuery", status: 502 });
    expect(await chat.tap(ask.message, "Approve")).toMatchObject({ text: "Taken: approved" });
  });
});

describe("a text that does not fit", () => {
  it("can be approved once all of it is in the chat as a file, and not before", async () => {
    await using chat = await openChat();
    const ask = await chat.ask(long);
    expect(ask.message.buttons.map(({ label }) => label)).toEqual([
      "Send all of it as a file",
      "Deny",
      "Details",
    ]);
    expect((await chat.tap(ask.message, "Send all")).isAlert).toBe(false);
    expect((await chat.replied(ask.message)).file).toEqual({
      name: `${ask.request.id}.txt`,
      type: "text/plain",
      text: long.text,
    });
    await expect
      .poll(() => ask.now().buttons.map(({ label }) => label), PATIENCE)
      .toEqual(["Approve", "Deny", "Details"]);
    await chat.tap(ask.now(), "Approve");
    expect(ask.ending()?.status).toBe("approved");
  });

  it("cannot be approved where the file was not taken", async () => {
    await using chat = await openChat();
    const ask = await chat.ask({ ...long, ...critical });
    chat.bot.fail({
      method: "sendDocument",
      status: 400,
      description: "Bad Request: file is too big",
    });
    expect(await chat.tap(ask.message, "Send all")).toEqual({
      text: "The file could not be sent; nothing has changed",
      isAlert: true,
    });
    const words = chat.reply(ask.message, "approve");
    expect((await chat.replied(words)).text).toContain("Not accepted: part of it was not shown");
    expect(ask.submissions).toEqual([]);
    await chat.tap(ask.message, "Send all");
    await expect.poll(() => ask.now().text, PATIENCE).toContain("the file has them");
    chat.reply(ask.message, "approve");
    await expect.poll(() => ask.ending()?.status, PATIENCE).toBe("approved");
  });

  it("can be denied unseen", async () => {
    await using chat = await openChat();
    const ask = await chat.ask(long);
    await chat.tap(ask.message, "Deny");
    expect(ask.ending()?.status).toBe("denied");
  });
});
