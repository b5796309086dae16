import { type JsonValue, isConsentError } from "@acp/core";
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import type { ApiCall, ApiReply } from "./bot-api.js";
import { createWebhookHandler, registerWebhook } from "./webhook.js";

const secretToken = "s".repeat(40);
const json = { "content-type": "application/json", "x-telegram-bot-api-secret-token": secretToken };
const post = (body: string | null, headers: Readonly<Record<string, string>> = json): Request =>
  new Request("http://localhost/hook", { method: "POST", headers, body });

async function handle(
  request: Request,
): Promise<{ readonly response: Response; readonly taken: readonly JsonValue[] }> {
  const taken: JsonValue[] = [];
  const response = await createWebhookHandler(
    secretToken,
    async (update) => void taken.push(update),
  )(request);
  return { response, taken };
}

describe("createWebhookHandler()", () => {
  it("takes an update, and answers when it was judged", async () => {
    const { response, taken } = await handle(post('{"update_id": 1}'));
    expect([response.status, taken]).toEqual([200, [{ update_id: 1 }]]);
  });

  it.each<[number, string, Request]>([
    [405, "a GET", new Request("http://localhost/hook", { headers: json })],
    [
      405,
      "a PUT",
      new Request("http://localhost/hook", { method: "PUT", headers: json, body: "{}" }),
    ],
    [401, "no secret", post("{}", { "content-type": "application/json" })],
    [401, "an empty secret", post("{}", { ...json, "x-telegram-bot-api-secret-token": "" })],
    [
      401,
      "another secret",
      post("{}", { ...json, "x-telegram-bot-api-secret-token": `${secretToken.slice(1)}t` }),
    ],
    [
      401,
      "a part of the secret",
      post("{}", { ...json, "x-telegram-bot-api-secret-token": secretToken.slice(1) }),
    ],
    [
      401,
      "the secret twice",
      post("{}", { ...json, "x-telegram-bot-api-secret-token": `${secretToken}, ${secretToken}` }),
    ],
    [415, "a form", post("a=b", { ...json, "content-type": "application/x-www-form-urlencoded" })],
    [415, "a type that begins alike", post("{}", { ...json, "content-type": "application/jsonp" })],
    [400, "no JSON", post("{")],
    [400, "nothing", post(null)],
    [400, "the same key twice", post('{"update_id": 1, "update_id": 2}')],
    [413, "too much", post(`{"a": "${"x".repeat(1024 * 1024)}"}`)],
  ])("answers %i to %s, and takes nothing", async (status, _what, request) => {
    const { response, taken } = await handle(request);
    expect([response.status, taken]).toEqual([status, []]);
    if (status === 405) expect(response.headers.get("allow")).toBe("POST");
  });

  it("reads no body without the secret", async () => {
    let isRead = false;
    const body = new ReadableStream({ pull: () => void (isRead = true) }, { highWaterMark: 0 });
    const request = new Request("http://localhost/hook", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      duplex: "half",
    });
    expect((await handle(request)).response.status).toBe(401);
    expect(isRead).toBe(false);
  });
});

describe("registerWebhook()", () => {
  const webhook = { url: "https://example.com/hook", secretToken };
  function register(...replies: readonly ApiReply[]) {
    const clock = manualClock();
    const stop = new AbortController();
    const calls: ApiCall[] = [];
    const warnings: string[] = [];
    const api = async (call: ApiCall): Promise<ApiReply> =>
      replies[calls.push(call) - 1] ?? { ok: true, result: true };
    return {
      clock,
      stop,
      calls,
      warnings,
      done: registerWebhook({
        api,
        webhook,
        warn: (line) => warnings.push(line),
        clock,
        signal: stop.signal,
      }),
    };
  }

  it("tells the address and the secret, and has what waits dropped", async () => {
    const { done, calls } = register();
    await done;
    expect(calls).toMatchObject([
      {
        method: "setWebhook",
        params: {
          url: webhook.url,
          secret_token: secretToken,
          drop_pending_updates: true,
          allowed_updates: ["message", "callback_query"],
        },
      },
    ]);
  });

  it("waits an outage out", async () => {
    const { done, calls, clock, warnings } = register(
      { ok: false, status: 0, why: "no reply" },
      { ok: false, status: 429, why: "slow", retryAfterMs: 9_000 },
    );
    await clock.advance(20_000);
    await done;
    expect([calls.length, warnings]).toEqual([
      3,
      ["Telegram did not accept the webhook: no reply"],
    ]);
  });

  it("rejects where it is refused", async () => {
    const { done } = register({ ok: false, status: 400, why: "Bad Request: bad webhook" });
    await expect(done).rejects.toSatisfy((error) => isConsentError(error, "channel_unavailable"));
  });

  it("ends with the channel", async () => {
    const { done, stop, calls, clock } = register(
      ...Array.from({ length: 9 }, () => ({ ok: false, status: 0, why: "no reply" }) as const),
    );
    await clock.advance(0);
    stop.abort();
    await done;
    expect(calls).toHaveLength(1);
  });
});
