import type { JsonObject, JsonValue } from "@acp/core";
import { describe, expect, it } from "vitest";
import { type BotApiDouble, createBotApiDouble } from "./bot-api-double.js";
import { manualClock } from "./manual-clock.js";

interface Answer {
  readonly status: number;
  readonly ok: boolean;
  readonly result?: JsonValue;
  readonly description?: string;
  readonly parameters?: JsonObject;
}

const read = async (response: Response): Promise<Answer> => ({
  status: response.status,
  ...((await response.json()) as Omit<Answer, "status">),
});

async function call(
  { apiRoot, token }: BotApiDouble,
  method: string,
  params: JsonObject = {},
): Promise<Answer> {
  const headers = { "content-type": "application/json" };
  return read(
    await fetch(`${apiRoot}/bot${token}/${method}`, {
      method: "POST",
      headers,
      body: JSON.stringify(params),
    }),
  );
}

const from = { id: 4711 };
const keyboard = (...rows: readonly (readonly JsonObject[])[]): JsonObject => ({
  inline_keyboard: rows,
});
const button = (data: string): JsonObject => ({ text: "Yes", callback_data: data });
const send = (bot: BotApiDouble, params: JsonObject): Promise<Answer> =>
  call(bot, "sendMessage", { chat_id: 4711, text: "hello", ...params });

describe("createBotApiDouble() refuses", () => {
  it.each<[string, string, JsonObject, number, string]>([
    ["an unknown method", "sendMesage", {}, 404, "Not Found: method not found"],
    ["an unknown parameter", "getMe", { extra: 1 }, 400, "unknown parameter"],
    [
      "a parameter of another type",
      "getUpdates",
      { timeout: "25" },
      400,
      `parameter "timeout" is not of type integer`,
    ],
    ["a chat it is not in", "sendMessage", { chat_id: 4712, text: "a" }, 400, "chat not found"],
    [
      "a chat that is no number",
      "sendMessage",
      { chat_id: "my chat", text: "a" },
      400,
      "not of type chat",
    ],
    ["an empty text", "sendMessage", { chat_id: 4711, text: " \n" }, 400, "message text is empty"],
    [
      "a text that is too long",
      "sendMessage",
      { chat_id: 4711, text: "€".repeat(4_097) },
      400,
      "message is too long",
    ],
    [
      "parse_mode, which this project never uses",
      "sendMessage",
      { chat_id: 4711, text: "a", parse_mode: "HTML" },
      400,
      "unknown parameter",
    ],
    [
      "a reply to nothing",
      "sendMessage",
      { chat_id: 4711, text: "a", reply_parameters: { message_id: 9 } },
      400,
      "replied not found",
    ],
    [
      "an entity outside its type",
      "sendMessage",
      { chat_id: 4711, text: "a", entities: [{ type: "x", offset: 0, length: 1 }] },
      400,
      "unsupported",
    ],
    [
      "to edit what is not there",
      "editMessageText",
      { chat_id: 4711, message_id: 9, text: "a" },
      400,
      "message to edit not found",
    ],
    [
      "a document that is not uploaded",
      "sendDocument",
      { chat_id: 4711 },
      400,
      "there is no document in the request",
    ],
    [
      "an unknown query",
      "answerCallbackQuery",
      { callback_query_id: "1" },
      400,
      "query is too old",
    ],
    [
      "a webhook without HTTPS",
      "setWebhook",
      { url: "http://example.com/hook" },
      400,
      "invalid webhook URL",
    ],
    [
      "a secret of other characters",
      "setWebhook",
      { url: "https://example.com/", secret_token: "a b" },
      400,
      "unallowed characters",
    ],
    [
      "a secret that is too long",
      "setWebhook",
      { url: "https://example.com/", secret_token: "a".repeat(257) },
      400,
      "too long",
    ],
  ])("%s", async (_what, method, params, status, description) => {
    await using bot = await createBotApiDouble();
    const answer = await call(bot, method, params);
    expect([answer.status, answer.ok]).toEqual([status, false]);
    expect(answer.description).toContain(description);
  });

  it.each<[string, JsonObject, string]>([
    ["data of more than 64 bytes", keyboard([button("€".repeat(22))]), "BUTTON_DATA_INVALID"],
    ["a button without data", keyboard([button("")]), "text buttons are unallowed"],
    [
      "nine buttons in a row",
      keyboard(Array.from({ length: 9 }, () => button("a"))),
      "reply markup is too long",
    ],
    [
      "101 buttons",
      keyboard(...Array.from({ length: 101 }, () => [button("a")])),
      "reply markup is too long",
    ],
    [
      "a keyboard of 10 KB",
      keyboard(...Array.from({ length: 60 }, () => [{ ...button("a"), text: "a".repeat(200) }])),
      "reply markup is too long",
    ],
    ["a row that is none", { inline_keyboard: [button("a")] }, "must be an Array of Arrays"],
  ])("%s", async (_what, markup, description) => {
    await using bot = await createBotApiDouble();
    expect((await send(bot, { reply_markup: markup })).description).toContain(description);
  });

  it("another token, and its own once it was revoked", async () => {
    await using bot = await createBotApiDouble();
    expect(await call({ ...bot, token: "1:another" }, "getMe")).toMatchObject({
      status: 401,
      description: "Unauthorized",
    });
    expect((await fetch(`${bot.apiRoot}/`)).status).toBe(404);
    bot.revokeToken();
    expect((await call(bot, "getMe")).status).toBe(401);
  });

  it("a group that got a new number, and a person who blocked it", async () => {
    await using bot = await createBotApiDouble({
      chats: [
        { id: -5, becameId: -1_005 },
        { id: 4711, canWrite: false },
      ],
    });
    expect(await send(bot, { chat_id: -5 })).toMatchObject({
      status: 400,
      parameters: { migrate_to_chat_id: -1_005 },
    });
    expect(await send(bot, {})).toMatchObject({
      status: 403,
      description: "Forbidden: bot was blocked by the user",
    });
  });
});

describe("createBotApiDouble() keeps messages", () => {
  it("as the service does: without what it drops, with what it finds", async () => {
    await using bot = await createBotApiDouble();
    await send(bot, { text: "  a\u030a\u202eb\u0007 https://example.com @somebody /start\n" });
    expect(bot.messages(4711)).toMatchObject([
      {
        text: "ab  https://example.com @somebody /start",
        entities: ["url", "mention", "bot_command"],
      },
    ]);
    await send(bot, {
      text: "https://example.com",
      entities: [{ type: "pre", offset: 0, length: 19 }],
    });
    expect(bot.messages(4711)[1]?.entities).toEqual(["pre"]);
  });

  it("edited, once each way, and takes the buttons away with the text", async () => {
    await using bot = await createBotApiDouble();
    await send(bot, { reply_markup: keyboard([button("a")]) });
    const [message] = bot.messages(4711);
    const edit = { chat_id: 4711, message_id: message?.id ?? 0 };
    expect(message?.buttons).toEqual([{ label: "Yes", data: "a" }]);
    expect((await call(bot, "editMessageText", { ...edit, text: "bye" })).ok).toBe(true);
    expect((await call(bot, "editMessageText", { ...edit, text: "bye" })).description).toContain(
      "message is not modified",
    );
    expect((await call(bot, "editMessageReplyMarkup", edit)).description).toContain(
      "message is not modified",
    );
    expect(bot.messages(4711)).toMatchObject([{ text: "bye", buttons: [] }]);
    const { message: theirs } = bot.write({ chatId: 4711, from, text: "mine" });
    expect(
      (await call(bot, "editMessageText", { ...edit, message_id: theirs.id, text: "yours" }))
        .description,
    ).toContain("can't be edited");
  });

  it("with a file that was uploaded", async () => {
    await using bot = await createBotApiDouble();
    const form = new FormData();
    form.set("chat_id", "4711");
    form.set("document", new Blob(["all of it"], { type: "text/plain" }), "call.txt");
    const answer = await read(
      await fetch(`${bot.apiRoot}/bot${bot.token}/sendDocument`, { method: "POST", body: form }),
    );
    expect(answer.ok).toBe(true);
    expect(bot.messages(4711)[0]?.file).toEqual({
      name: "call.txt",
      type: "text/plain",
      text: "all of it",
    });
  });
});

describe("createBotApiDouble() hands updates out", () => {
  const idsOf = ({ result }: Answer): readonly unknown[] =>
    Array.isArray(result) ? result.map((update: JsonObject) => update["update_id"]) : [];
  const wrote = (bot: BotApiDouble): number =>
    bot.write({ chatId: 4711, from, text: "hi" }).updateId;

  it("again until an offset confirms them", async () => {
    await using bot = await createBotApiDouble();
    const [first, second] = [wrote(bot), wrote(bot)];
    expect(idsOf(await call(bot, "getUpdates"))).toEqual([first, second]);
    expect(idsOf(await call(bot, "getUpdates", { limit: 1 }))).toEqual([first]);
    expect(idsOf(await call(bot, "getUpdates", { offset: second }))).toEqual([second]);
    expect(idsOf(await call(bot, "getUpdates"))).toEqual([second]);
    expect(bot.waiting()).toBe(1);
  });

  it("from the end with a negative offset, which forgets the rest", async () => {
    await using bot = await createBotApiDouble();
    wrote(bot);
    const last = wrote(bot);
    expect(idsOf(await call(bot, "getUpdates", { offset: -1 }))).toEqual([last]);
    expect(bot.waiting()).toBe(1);
  });

  it("to a poll that waits, of the kinds that are asked for", async () => {
    await using bot = await createBotApiDouble();
    const poll = call(bot, "getUpdates", { timeout: 20, allowed_updates: ["message"] });
    await expect.poll(() => bot.calls.length).toBe(1);
    expect(bot.push("channel_post", { message_id: 1 })).toBe(-1);
    const id = wrote(bot);
    expect(idsOf(await poll)).toEqual([id]);
  });

  it("to one poll alone, and to none beside a webhook", async () => {
    await using bot = await createBotApiDouble();
    const first = call(bot, "getUpdates", { timeout: 20 });
    await expect.poll(() => bot.calls.length).toBe(1);
    const second = call(bot, "getUpdates", { timeout: 20 });
    expect(await first).toMatchObject({
      status: 409,
      description: expect.stringContaining("terminated by other getUpdates request"),
    });
    await call(bot, "setWebhook", { url: "http://127.0.0.1:9/hook" });
    expect(await second).toMatchObject({
      status: 409,
      description: expect.stringContaining("terminated by setWebhook"),
    });
    expect((await call(bot, "getUpdates")).description).toContain("while webhook is active");
    await call(bot, "deleteWebhook");
    expect((await call(bot, "getUpdates")).ok).toBe(true);
  });

  it("a second time on demand", async () => {
    await using bot = await createBotApiDouble();
    const id = wrote(bot);
    await call(bot, "getUpdates", { offset: id + 1 });
    bot.repeat(id);
    expect(idsOf(await call(bot, "getUpdates"))).toEqual([id]);
  });

  it("dropped by a webhook that wants none of before", async () => {
    await using bot = await createBotApiDouble();
    wrote(bot);
    await call(bot, "setWebhook", { url: "http://127.0.0.1:9/hook", drop_pending_updates: true });
    expect((await call(bot, "getWebhookInfo")).result).toMatchObject({
      url: "http://127.0.0.1:9/hook",
      pending_update_count: 0,
    });
  });
});

describe("createBotApiDouble() has people", () => {
  it("who tap a button and are answered once", async () => {
    await using bot = await createBotApiDouble();
    await send(bot, { reply_markup: keyboard([button("a")]) });
    const [message] = bot.messages(4711);
    if (message === undefined) throw new Error("no message");
    const tap = bot.tap({ message, from, button: { label: "Yes" } });
    const answer = { callback_query_id: "1", text: "taken", show_alert: true };
    expect((await call(bot, "answerCallbackQuery", { ...answer, text: "a".repeat(201) })).ok).toBe(
      false,
    );
    expect((await call(bot, "answerCallbackQuery", answer)).ok).toBe(true);
    expect(await tap.answer).toEqual({ text: "taken", isAlert: true });
    expect((await call(bot, "answerCallbackQuery", answer)).description).toContain(
      "query is too old",
    );
    expect(() => bot.tap({ message, from, button: { label: "No" } })).toThrow("has no such button");
  });

  it("and time in the test's hands", async () => {
    const clock = manualClock(1_768_473_000_000);
    await using bot = await createBotApiDouble({ clock });
    expect((await send(bot, {})).result).toMatchObject({ date: 1_768_473_000 });
  });
});

describe("createBotApiDouble() fails on demand", () => {
  it("with a status, with 429 and its pause, as often as told", async () => {
    await using bot = await createBotApiDouble();
    bot.fail({ method: "getMe", times: 2, status: 502 });
    bot.fail({ method: "getMe", retryAfterS: 7 });
    expect((await call(bot, "getMe")).status).toBe(502);
    expect((await call(bot, "getMe")).status).toBe(502);
    expect(await call(bot, "getMe")).toMatchObject({ status: 429, parameters: { retry_after: 7 } });
    expect((await call(bot, "getMe")).ok).toBe(true);
  });

  it("before and after a call is carried out, and altogether", async () => {
    await using bot = await createBotApiDouble();
    bot.fail({ cut: "before" });
    await expect(send(bot, {})).rejects.toThrow("fetch failed");
    expect(bot.messages(4711)).toHaveLength(0);
    bot.fail({ cut: "after" });
    await expect(send(bot, {})).rejects.toThrow("fetch failed");
    expect(bot.messages(4711)).toHaveLength(1);
    bot.setDown(true);
    await expect(send(bot, {})).rejects.toThrow("fetch failed");
    bot.setDown(false);
    expect((await send(bot, {})).ok).toBe(true);
  });
});
