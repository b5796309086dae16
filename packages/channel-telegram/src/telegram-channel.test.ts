import {
  type ConsentOutcome,
  type EndStatus,
  isConsentError,
  memoryStore,
  systemClock,
  toolAction,
} from "@acp/core";
import { askDouble, createBotApiDouble } from "@acp/testing";
import { describe, expect, it } from "vitest";
import {
  ALICE,
  GROUP,
  PATIENCE,
  openChat,
  openClockedChat,
  openWebhookChat,
  runUntil,
} from "../test/chat-kit.js";
import { agent, gated } from "../test/gate-kit.js";
import { createTelegramChannel } from "./telegram-channel.js";

const isUnavailable = (error: unknown): boolean => isConsentError(error, "channel_unavailable");

describe("createTelegramChannel() shows a question", () => {
  it("as plain text: no markup, no links, no mentions, no preview", async () => {
    await using chat = await openChat();
    const text =
      'With:\n  "see https://evil.example/ @admin #tag /approve <b>bold</b> *bold* [a](tg://user?id=1)"';
    const ask = await chat.ask({ text });
    expect(ask.message.text).toContain(`\n\n${text}\n\n`);
    expect(ask.message.entities).toEqual(["pre"]);
    const sent = chat.bot.calls.find(({ method }) => method === "sendMessage");
    expect(sent?.params).toMatchObject({ link_preview_options: { is_disabled: true } });
    expect(sent?.params).not.toHaveProperty("parse_mode");
  });

  it("that was altered on the way only for a denial or a file", async () => {
    await using chat = await openChat();
    // Core escapes this; a text that were not escaped would arrive without it.
    const ask = await chat.ask({ text: 'With:\n  "a\u2028b"' });
    await expect.poll(() => ask.now().text, PATIENCE).toContain("Telegram shows this text altered");
    expect(ask.now().buttons.map(({ label }) => label)).toEqual([
      "Send all of it as a file",
      "Deny",
      "Details",
    ]);
    const stale = await chat.bot.tap({
      message: ask.message,
      from: ALICE,
      button: { data: ask.message.buttons[0]?.data ?? "" },
    }).answer;
    expect([stale.isAlert, ask.submissions]).toEqual([true, []]);
  });

  it.each<[EndStatus, string]>([
    ["approved", "APPROVED, elsewhere"],
    ["approved_with_modifications", "APPROVED WITH CHANGED ARGUMENTS, elsewhere"],
    ["denied", "DENIED, elsewhere: why"],
    ["expired", "EXPIRED"],
    ["cancelled", "WITHDRAWN"],
    ["failed", "FAILED"],
    ["superseded", "REPLACED by a new question, elsewhere"],
  ])("until it ended elsewhere: %s", async (status, heading) => {
    await using chat = await openChat();
    const ask = await chat.ask();
    ask.end({ status, reason: "why" });
    await expect.poll(() => ask.now().text, PATIENCE).toContain(heading);
    expect(ask.now().buttons).toEqual([]);
    expect(ask.now().text).toContain("Wants: call write_file on files");
  });

  it.each<[ConsentOutcome, string]>([
    [{ status: "ran", detail: "" }, "APPROVED, elsewhere\nIT RAN\n"],
    [{ status: "failed", detail: "TypeError" }, "\nIT FAILED (TypeError)\n"],
    [{ status: "not_performed", detail: "vault_failed" }, "\nIT DID NOT RUN (vault_failed)\n"],
    [{ status: "not_collected", detail: "" }, "\nIT DID NOT RUN: nobody collected the answer\n"],
    [{ status: "unknown", detail: "" }, "\nnobody reported whether it ran\n"],
  ])("and of a yes then what became of it: %j", async (outcome, heading) => {
    await using chat = await openChat();
    const ask = await chat.ask();
    ask.end({ status: "approved", reason: "" });
    await expect.poll(() => ask.now().text, PATIENCE).toContain("APPROVED");
    expect(ask.now().text).not.toContain("RAN");
    ask.settle(outcome);
    await expect.poll(() => ask.now().text, PATIENCE).toContain(heading);
  });

  it("many at once, without a warning of the runtime", async () => {
    const warned: Error[] = [];
    const note = (warning: Error): void =>
      void (/telegram/.test(warning.stack ?? "") && warned.push(warning));
    process.on("warning", note);
    await using chat = await openChat();
    const asks = await Promise.all(Array.from({ length: 15 }, () => chat.ask()));
    await Promise.all(
      asks.map((ask, i) => chat.tap(ask.message, i % 2 === 0 ? "Approve" : "Deny")),
    );
    expect(asks.map((ask) => ask.ending()?.status)).toEqual(
      asks.map((_ask, i) => (i % 2 === 0 ? "approved" : "denied")),
    );
    await expect
      .poll(() => chat.messages().every(({ buttons }) => buttons.length === 0), PATIENCE)
      .toBe(true);
    process.off("warning", note);
    expect(warned).toEqual([]);
  });
});

describe("createTelegramChannel() does not ask", () => {
  it("where nobody may answer", async () => {
    await using chat = await openChat({ approvers: [] });
    await expect(chat.ask()).rejects.toThrow("Cannot ask on Telegram: nobody may answer");
    expect(chat.messages()).toEqual([]);
  });

  it.each<[string, Parameters<typeof openChat>[0], string]>([
    [
      "in a chat that the bot is not in",
      { chats: [{ id: 1 }] },
      "chat not found; press Start in the chat with the bot",
    ],
    [
      "whoever blocked the bot",
      { chats: [{ id: ALICE.id, canWrite: false }] },
      "bot was blocked by the user; press Start",
    ],
    [
      "in a group that got a new number",
      { chatId: "-500", approvers: ["4711"], chats: [{ id: -500, becameId: GROUP }] },
      `the group has a new number, "${GROUP}"`,
    ],
  ])("%s, and says what to do", async (_where, options, why) => {
    await using chat = await openChat(options);
    const failure = await chat.ask().catch((error: unknown) => error);
    expect(isUnavailable(failure)).toBe(true);
    expect(String(failure)).toContain(why);
  });

  it("with a token that is refused", async () => {
    await using bot = await createBotApiDouble();
    await using channel = createTelegramChannel({
      token: "123456:another-token",
      chatId: "4711",
      apiRoot: bot.apiRoot,
    });
    await expect(channel.ready).rejects.toSatisfy(isUnavailable);
    const { request, session } = askDouble();
    const failure = await channel.deliver(request, session).catch((error: unknown) => error);
    expect(isUnavailable(failure)).toBe(true);
    expect(String(failure)).toContain("Telegram refuses the bot's token (Unauthorized)");
  });

  it("with a token that was revoked", async () => {
    await using chat = await openChat();
    const first = await chat.ask();
    chat.bot.revokeToken();
    const failure = await chat.ask().catch((error: unknown) => error);
    expect([isUnavailable(failure), first.ending()]).toEqual([true, undefined]);
  });

  it("where the message is not taken for another reason", async () => {
    await using chat = await openChat();
    chat.bot.fail({
      method: "sendMessage",
      status: 400,
      description: "Bad Request: not enough rights to send text messages to the chat",
    });
    const failure = await chat.ask().catch((error: unknown) => error);
    expect(isConsentError(failure, "channel_failed")).toBe(true);
    expect(String(failure)).toContain("Cannot ask on Telegram: Bad Request: not enough rights");
  });

  it("once it is closed", async () => {
    await using chat = await openChat();
    await chat.channel.close();
    await expect(chat.ask()).rejects.toSatisfy(isUnavailable);
  });
});

describe("createTelegramChannel() and time", () => {
  it("throws away unread what waited before it started", async () => {
    await using bot = await createBotApiDouble();
    const old = bot.write({ chatId: 4711, from: ALICE, text: "approve" });
    bot.write({ chatId: 4711, from: ALICE, text: "approve", repliedId: old.message.id });
    await using channel = createTelegramChannel({
      token: bot.token,
      chatId: "4711",
      apiRoot: bot.apiRoot,
    });
    await channel.ready;
    await expect
      .poll(() => bot.calls.filter(({ method }) => method === "getUpdates").length, PATIENCE)
      .toBeGreaterThan(1);
    expect([bot.waiting(), bot.calls.filter(({ method }) => method !== "getUpdates")]).toEqual([
      0,
      [],
    ]);
  });

  it("asks again after a restart; a tap on the message of before does nothing", async () => {
    await using bot = await createBotApiDouble();
    const options = { token: bot.token, chatId: "4711", apiRoot: bot.apiRoot };
    const store = memoryStore(systemClock);
    const before = createTelegramChannel(options);
    const first = gated({ channel: before, store });
    const opened = await first.gate.open(toolAction("files", "write_file", { path: "a" }), {
      agent,
    });
    await expect.poll(() => bot.messages(4711).length, PATIENCE).toBe(1);
    const [stale] = bot.messages(4711);
    await before.close();
    if (stale === undefined || opened.decision !== "pending") throw new Error("not asked");
    const unheard = bot.tap({ message: stale, from: ALICE, button: { label: "Approve" } });

    await using after = createTelegramChannel(options);
    await using second = gated({ channel: after, store });
    expect(await second.gate.resume()).toBe(1);
    await expect.poll(() => bot.messages(4711).length, PATIENCE).toBe(2);
    const [, fresh] = bot.messages(4711);
    if (fresh === undefined) throw new Error("not asked again");
    expect(fresh.text).toContain("an agent asks for consent, again after a restart");
    expect(
      await bot.tap({ message: stale, from: ALICE, button: { label: "Approve" } }).answer,
    ).toEqual({
      text: "This question is over, or was asked again in a newer message. Nothing was decided",
      isAlert: true,
    });
    bot.repeat(unheard.updateId);
    bot.write({ chatId: 4711, from: ALICE, text: "approve", repliedId: stale.id });
    expect(second.events.map(({ eventType }) => eventType)).not.toContain("consent_approved");
    await bot.tap({ message: fresh, from: ALICE, button: { label: "Approve" } }).answer;
    expect(second.events.map(({ eventType }) => eventType)).toContain("consent_approved");
    await first.gate.close();
  });

  it("waits out an outage with the question, and loses neither it nor the answer", async () => {
    await using chat = await openClockedChat();
    chat.bot.setDown(true);
    const ask = askDouble();
    const delivered = chat.channel.deliver(ask.request, ask.session);
    await chat.clock.advance(30_000);
    chat.bot.setDown(false);
    await runUntil(chat.clock, () => chat.message(ask.request.id) !== undefined);
    await delivered;
    const message = chat.message(ask.request.id);
    if (message === undefined) throw new Error("not shown");
    chat.bot.setDown(true);
    chat.bot.tap({ message, from: ALICE, button: { label: "Approve" } });
    await chat.clock.advance(30_000);
    expect(ask.submissions).toEqual([]);
    chat.bot.setDown(false);
    await runUntil(chat.clock, () => ask.ending() !== undefined);
    await runUntil(
      chat.clock,
      () => chat.message(ask.request.id)?.text.startsWith("APPROVED by Alice") === true,
    );
  });

  it("does not show a question that ended in an outage", async () => {
    await using chat = await openClockedChat();
    await chat.channel.ready;
    chat.bot.setDown(true);
    const ask = askDouble();
    const delivered = chat.channel.deliver(ask.request, ask.session);
    await chat.clock.advance(10_000);
    ask.end({ status: "expired", reason: "" });
    await delivered;
    chat.bot.setDown(false);
    const other = askDouble();
    void chat.channel.deliver(other.request, other.session);
    await runUntil(chat.clock, () => chat.message(other.request.id) !== undefined);
    expect(chat.message(ask.request.id)).toBeUndefined();
  });

  it("means nothing by the buttons of a copy whose delivery was not reported", async () => {
    await using chat = await openClockedChat();
    await chat.channel.ready;
    chat.bot.fail({ method: "sendMessage", cut: "after" });
    const ask = askDouble();
    const delivered = chat.channel.deliver(ask.request, ask.session);
    await runUntil(chat.clock, () => chat.messages().length === 2);
    await delivered;
    const [ghost, real] = chat.messages();
    if (ghost === undefined || real === undefined) throw new Error("not shown twice");
    expect((await chat.tap(ghost, "Approve")).text).toBe(
      "This button belongs to another message. Nothing was decided",
    );
    expect(ask.submissions).toEqual([]);
    await chat.tap(real, "Approve");
    expect(ask.ending()?.status).toBe("approved");
  });

  it("lets messages show their end before it closes", async () => {
    await using chat = await openChat();
    const asks = await Promise.all(Array.from({ length: 5 }, () => chat.ask()));
    for (const ask of asks) ask.end({ status: "cancelled", reason: "" });
    await chat.channel.close();
    for (const ask of asks) expect(ask.now().text).toContain("WITHDRAWN");
  });

  it("closes in the middle of an outage, once", async () => {
    await using chat = await openClockedChat();
    const ask = await chat.ask();
    chat.bot.setDown(true);
    ask.end({ status: "cancelled", reason: "" });
    let closed = 0;
    for (let i = 0; i < 2; i++) void chat.channel.close().then(() => closed++);
    await runUntil(chat.clock, () => closed === 2);
    expect(ask.now().text).not.toContain("WITHDRAWN");
  });
});

describe("createTelegramChannel() by webhook", () => {
  it("registers, takes updates once each, and polls nothing", async () => {
    await using chat = await openWebhookChat();
    const ask = await chat.ask();
    const tap = chat.bot.tap({ message: ask.message, from: ALICE, button: { label: "Approve" } });
    expect((await tap.answer).text).toBe("Taken: approved");
    chat.bot.repeat(tap.updateId);
    await expect.poll(() => chat.bot.waiting(), PATIENCE).toBe(0);
    expect(ask.submissions).toHaveLength(1);
    expect(chat.bot.calls.filter(({ method }) => method === "answerCallbackQuery")).toHaveLength(1);
    expect(chat.bot.calls.some(({ method }) => method === "getUpdates")).toBe(false);
  });

  it("takes nothing from others", async () => {
    await using chat = await openWebhookChat();
    const ask = await chat.ask();
    const query = {
      id: "9",
      from: { id: 4711, is_bot: false, first_name: "A" },
      chat_instance: "1",
      data: ask.message.buttons[0]?.data ?? "",
    };
    const body = JSON.stringify({
      update_id: 1,
      callback_query: { ...query, message: ask.message.json },
    });
    const forged = (secret: string) =>
      fetch(chat.url, {
        method: "POST",
        headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": secret },
        body,
      });
    expect((await forged("t".repeat(48))).status).toBe(401);
    expect((await fetch(chat.url)).status).toBe(405);
    expect(ask.submissions).toEqual([]);
    expect((await forged(chat.secretToken)).status).toBe(200);
    expect(ask.submissions).toHaveLength(1);
  });

  it("takes nothing once it is closed, and says so", async () => {
    await using chat = await openWebhookChat();
    await chat.channel.close();
    const headers = {
      "content-type": "application/json",
      "x-telegram-bot-api-secret-token": chat.secretToken,
    };
    expect(
      (await fetch(chat.url, { method: "POST", headers, body: '{"update_id":1}' })).status,
    ).toBe(503);
  });

  it("has no such address while it polls", async () => {
    await using chat = await openChat();
    expect(
      (await chat.channel.handle(new Request("http://localhost/", { method: "POST", body: "{}" })))
        .status,
    ).toBe(404);
  });
});
