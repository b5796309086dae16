import { type JsonObject, systemClock } from "@acp/core";
import { createBotApiDouble, manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { PATIENCE, runUntil } from "../test/chat-kit.js";
import { rawServer } from "../test/raw-server.js";
import { type ApiReply, type BotApi, createBotApi } from "./bot-api.js";

const token = "123456:SECRET-part_of-the-token";
const signal = new AbortController().signal;
const getMe = (api: BotApi): Promise<ApiReply> => api({ method: "getMe", params: {}, signal });

/** What a server's own words come to. */
async function replyTo(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiReply> {
  await using server = await rawServer((_request, response) =>
    response.writeHead(status, headers).end(body),
  );
  return await getMe(createBotApi({ token, apiRoot: server.root, clock: systemClock }));
}

describe("createBotApi()", () => {
  it("calls by the documentation: the token in the path, JSON, a file as multipart", async () => {
    await using bot = await createBotApiDouble();
    const api = createBotApi({ token: bot.token, apiRoot: bot.apiRoot, clock: systemClock });
    const params: JsonObject = {
      chat_id: "4711",
      text: "hello",
      link_preview_options: { is_disabled: true },
    };
    expect(await api({ method: "sendMessage", params, signal })).toMatchObject({
      ok: true,
      result: { text: "hello" },
    });
    const document = { name: "call.txt", type: "text/plain", text: "€".repeat(10) } as const;
    const reply = { message_id: 100, allow_sending_without_reply: true };
    const sent = await api({
      method: "sendDocument",
      params: { chat_id: "4711", reply_parameters: reply },
      document,
      signal,
    });
    expect(sent).toMatchObject({
      ok: true,
      result: {
        document: { file_name: "call.txt", file_size: 30 },
        reply_to_message: { message_id: 100 },
      },
    });
  });

  it.each<[string, number, string, ApiReply]>([
    [
      "an error",
      400,
      '{"ok":false,"error_code":400,"description":"Bad Request: no"}',
      { ok: false, status: 400, why: "Bad Request: no" },
    ],
    [
      "a pause that is asked for",
      429,
      '{"ok":false,"description":"Too Many Requests: retry after 7","parameters":{"retry_after":7}}',
      { ok: false, status: 429, why: "Too Many Requests: retry after 7", retryAfterMs: 7_000 },
    ],
    [
      "a pause of nothing",
      429,
      '{"ok":false,"description":"a","parameters":{"retry_after":0}}',
      { ok: false, status: 429, why: "a", retryAfterMs: 1_000 },
    ],
    [
      "a group's new number",
      400,
      '{"ok":false,"description":"a","parameters":{"migrate_to_chat_id":-100500}}',
      { ok: false, status: 400, why: "a", newChatId: "-100500" },
    ],
    [
      "a page of a gateway",
      502,
      "<html>Bad Gateway</html>",
      { ok: false, status: 502, why: "the reply is not JSON" },
    ],
    [
      "a page with 200",
      200,
      "<html>hello</html>",
      { ok: false, status: 0, why: "the reply is not JSON" },
    ],
    ["a no with 200", 200, '{"ok":false,"description":"no"}', { ok: false, status: 0, why: "no" }],
    [
      "a yes that is a text",
      200,
      '{"ok":"true","result":{}}',
      { ok: false, status: 0, why: "no description" },
    ],
    [
      "a yes with a status of failure",
      500,
      '{"ok":true,"result":{}}',
      { ok: false, status: 500, why: "no description" },
    ],
    ["a yes without a result", 200, '{"ok":true}', { ok: false, status: 0, why: "no description" }],
    [
      "the same key twice",
      200,
      '{"ok":false,"ok":true,"result":{}}',
      { ok: false, status: 0, why: "the reply is not JSON" },
    ],
  ])("reads %s", async (_what, status, body, reply) => {
    expect(await replyTo(status, body)).toEqual(reply);
  });

  it("shows a server's words on one line, without what could hide, and no more than needed", async () => {
    const reply = await replyTo(
      400,
      JSON.stringify({ ok: false, description: `a\n\u202eb${"c".repeat(5_000)}` }),
    );
    expect(reply).toMatchObject({
      why: `a\\u000a\\u202eb${"c".repeat(200 - "a\\u000a\\u202eb".length)}`,
    });
  });

  it("never says the token, whatever happens", async () => {
    const secret = "SECRET-part_of-the-token";
    const closed = await rawServer(() => undefined);
    await closed[Symbol.asyncDispose]();
    const replies = [
      await replyTo(
        404,
        JSON.stringify({ ok: false, description: `Not Found: /bot${token}/getMe` }),
      ),
      await replyTo(302, "", { location: `http://127.0.0.1:9/bot${token}` }),
      await getMe(createBotApi({ token, apiRoot: closed.root, clock: systemClock })),
      await getMe(createBotApi({ token, apiRoot: "http://127.0.0.1:0", clock: systemClock })),
    ];
    for (const reply of replies) {
      expect(reply.ok).toBe(false);
      expect(JSON.stringify(reply)).not.toContain(secret);
    }
    expect(replies[0]).toMatchObject({ why: "Not Found: /bot123456:<token>/getMe" });
    expect(replies[2]).toMatchObject({ status: 0, why: "no reply (ECONNREFUSED)" });
  });

  it("follows no redirect with the token", async () => {
    await using elsewhere = await rawServer((_request, response) =>
      response.end('{"ok":true,"result":{}}'),
    );
    await using server = await rawServer((request, response) =>
      response.writeHead(307, { location: `${elsewhere.root}${request.url}` }).end(),
    );
    expect(
      await getMe(createBotApi({ token, apiRoot: server.root, clock: systemClock })),
    ).toMatchObject({ ok: false, status: 0 });
    expect([server.paths.length, elsewhere.paths.length]).toEqual([1, 0]);
  });

  it("reads no more of a reply than it may have", async () => {
    await using server = await rawServer((_request, response) => {
      const chunk = Buffer.alloc(1024 * 1024, " ");
      const more = (): void =>
        void (response.writableEnded || response.destroyed || !response.write(chunk, more));
      more();
    });
    expect(await getMe(createBotApi({ token, apiRoot: server.root, clock: systemClock }))).toEqual({
      ok: false,
      status: 0,
      why: "the reply is too large",
    });
  });

  it("gives up in time, and at once where it is told to", async () => {
    const clock = manualClock();
    await using server = await rawServer(() => undefined);
    const api = createBotApi({ token, apiRoot: server.root, clock });
    let reply: ApiReply | undefined;
    const done = getMe(api).then((given) => (reply = given));
    await expect.poll(() => server.paths.length, PATIENCE).toBe(1);
    await clock.advance(29_000);
    expect(reply).toBeUndefined();
    await runUntil(clock, () => reply !== undefined);
    expect(await done).toEqual({ ok: false, status: 0, why: "no reply in time" });

    const stop = new AbortController();
    const stopped = api({ method: "getMe", params: {}, signal: stop.signal });
    await expect.poll(() => server.paths.length, PATIENCE).toBe(2);
    stop.abort();
    expect(await stopped).toMatchObject({ ok: false, status: 0 });
    expect(await api({ method: "getMe", params: {}, signal: stop.signal })).toEqual({
      ok: false,
      status: 0,
      why: "given up",
    });
    expect(server.paths.length).toBe(2);
  });
});
