import { type JsonObject, makeResponse, parseJson } from "@acp/core";
import { askDouble, manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { OTHER_SECRET, SECRET, signed } from "../test/receiver.js";
import { createHandler } from "./handler.js";
import { createLinks } from "./links.js";
import { createQuestions } from "./questions.js";
import { replaySet } from "./replay-set.js";
import { readSecrets } from "./secret.js";

const URL_OF_IT = "https://gate.example/anything/callback";

function makeHandler({ closed = false, idsMax = 1_000, serveLinks = true } = {}) {
  const clock = manualClock();
  const questions = createQuestions();
  const ask = askDouble();
  questions.put(ask);
  const links = createLinks("https://gate.example/acp/");
  const handler = createHandler({
    keys: readSecrets(SECRET),
    claims: replaySet(clock, idsMax),
    questions,
    approvers: new Set(["alice"]),
    now: () => clock.now(),
    links: serveLinks ? { links, origin: "https://gate.example", clock } : undefined,
    isClosed: () => closed,
  });
  const answer = (changes: JsonObject = {}): string =>
    JSON.stringify({
      ...makeResponse(ask.request, {
        decision: "approved",
        nowMs: clock.now(),
        channel: "webhook",
        approverId: "alice",
      }),
      ...changes,
    });
  const call = async (
    init: RequestInit,
  ): Promise<{ readonly status: number; readonly body: unknown; readonly headers: Headers }> => {
    const response = await handler(new Request(URL_OF_IT, { method: "POST", ...init }));
    return {
      status: response.status,
      body: parseJson(await response.text()),
      headers: response.headers,
    };
  };
  const sign = (body: string, id?: string) =>
    signed(body, { nowMs: clock.now(), ...(id === undefined ? {} : { id }) });
  return { handler, clock, ask, links, answer, call, sign };
}

describe("createHandler(): a callback", () => {
  it("is told what became of its answer", async () => {
    const { ask, answer, call, sign } = makeHandler();
    const taken = await call(sign(answer()));
    expect([taken.status, taken.body]).toEqual([200, { status: "final", outcome: "approved" }]);
    expect(taken.headers.get("cache-control")).toBe("no-store");
    expect(ask.ending()?.status).toBe("approved");
  });

  it("gets the receipt of a quorum, and the id of a question that took the place of this one", async () => {
    const { ask, answer, call, sign } = makeHandler();
    Object.assign(ask.session, { submit: async () => ({ status: "counted", have: 1, need: 2 }) });
    expect((await call(sign(answer()))).body).toEqual({ status: "counted", have: 1, need: 2 });
    Object.assign(ask.session, {
      submit: async () => ({ status: "reshow", request: askDouble().request }),
    });
    expect((await call(sign(answer()))).body).toEqual({
      status: "reshow",
      request_id: expect.stringMatching(/^cr_/),
    });
  });

  const refusals: readonly (readonly [string, number, JsonObject])[] = [
    ["approver_unknown", 403, { approver: { id: "mallory", channel: "webhook" } }],
    ["request_unknown", 404, { request_id: "cr_other" }],
    ["nonce_mismatch", 409, { nonce: "n_other" }],
    ["response_invalid", 400, { approved: "no" }],
  ];

  it.each(refusals)(
    "is refused with %s as %i, and the question stays open",
    async (code, status, changes) => {
      const { ask, answer, call, sign } = makeHandler();
      const refused = await call(sign(answer(changes)));
      expect([refused.status, refused.body]).toEqual([
        status,
        { status: "refused", code, reason: expect.any(String) },
      ]);
      expect(ask.ending()).toBeUndefined();
    },
  );

  it.each([
    ["store_failed", 503],
    ["request_ended", 410],
    ["rate_limited", 429],
    ["confirmation_required", 409],
  ])("says %s as %i, in one line of plain text", async (code, status) => {
    const { ask, answer, call, sign } = makeHandler();
    Object.assign(ask.session, {
      submit: async () => ({
        status: "refused",
        code,
        reason: `a\u202eb\u0000${"x".repeat(5_000)}`,
      }),
    });
    const refused = await call(sign(answer()));
    expect(refused.status).toBe(status);
    expect(JSON.stringify(refused.body)).toContain("a\\\\u202eb\\\\u0000xxx");
    expect(JSON.stringify(refused.body).length).toBeLessThan(1_200);
  });

  it("is not looked into without a good signature, and reads no body without headers", async () => {
    const { ask, answer, call, clock } = makeHandler();
    const unsigned = { body: answer(), headers: { "content-type": "application/json" } };
    expect(await call(unsigned)).toMatchObject({
      status: 401,
      body: { status: "refused", code: "headers_missing" },
    });
    expect(
      await call(signed(answer(), { nowMs: clock.now(), secret: OTHER_SECRET })),
    ).toMatchObject({
      body: { code: "signature_invalid" },
    });
    expect(await call(signed(answer(), { nowMs: clock.now() - 301_000 }))).toMatchObject({
      body: { code: "timestamp_outside_tolerance" },
    });
    expect(ask.submissions).toEqual([]);

    let pulled = 0;
    const body = new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 });
    await call({ body, duplex: "half" });
    expect(pulled).toBe(0);
  });

  it("counts once", async () => {
    const { ask, answer, call, sign } = makeHandler();
    const message = sign(answer({ nonce: "n_other" }), "msg_1");
    await call(message);
    expect(await call(message)).toMatchObject({ status: 409, body: { code: "replayed" } });
    expect(await call(sign(answer(), "msg_1"))).toMatchObject({
      status: 409,
      body: { code: "replayed" },
    });
    expect(ask.ending()).toBeUndefined();
  });

  it("is refused while no more ids can be kept", async () => {
    const { ask, answer, call, sign } = makeHandler({ idsMax: 1 });
    await call(sign(answer({ nonce: "n_other" })));
    expect(await call(sign(answer()))).toMatchObject({
      status: 503,
      body: { code: "unavailable" },
    });
    expect(ask.ending()).toBeUndefined();
  });

  it.each(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])("is a POST, not %s", async (method) => {
    const { handler, ask, answer, sign } = makeHandler();
    const { headers } = sign(answer());
    const response = await handler(new Request(URL_OF_IT, { method, headers }));
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
    expect(ask.submissions).toEqual([]);
  });

  it("may have two MiB, also where it does not say how much it has", async () => {
    const { ask, call, sign, clock } = makeHandler();
    const { headers } = sign("x");
    expect(await call({ headers, body: "x".repeat(2 * 1024 * 1024 + 1) })).toMatchObject({
      status: 413,
    });
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)),
    });
    expect(await call({ headers, body: endless, duplex: "half" })).toMatchObject({
      status: 413,
      body: { code: "body_too_large" },
    });
    expect(await call({ ...signed("x", { nowMs: clock.now() }), body: "y" })).toMatchObject({
      status: 401,
    });
    expect(ask.submissions).toEqual([]);
  });

  it("says so where its body was read before", async () => {
    const { handler, answer, sign } = makeHandler();
    const request = new Request(URL_OF_IT, { method: "POST", ...sign(answer()) });
    await request.text();
    const refused = await handler(request);
    expect([refused.status, await refused.json()]).toEqual([
      500,
      { status: "refused", code: "body_already_read" },
    ]);
  });

  it("breaks nothing where its body breaks off or the session throws", async () => {
    const { ask, answer, call, sign } = makeHandler();
    const broken = new ReadableStream({
      pull: (controller) => controller.error(new Error("gone")),
    });
    expect(await call({ headers: sign("x").headers, body: broken, duplex: "half" })).toMatchObject({
      status: 500,
    });
    Object.assign(ask.session, { submit: () => Promise.reject(new Error("hunter2")) });
    const failed = await call(sign(answer()));
    expect([failed.status, failed.body]).toEqual([
      500,
      { status: "refused", code: "internal_error" },
    ]);
  });

  it("is refused when the channel is closed", async () => {
    const { answer, call, sign, ask } = makeHandler({ closed: true });
    expect(await call(sign(answer()))).toMatchObject({
      status: 503,
      body: { code: "unavailable" },
    });
    expect(ask.submissions).toEqual([]);
  });
});

describe("createHandler(): a link", () => {
  it("is served wherever the handler is mounted, and only by the last part of the path", async () => {
    const { handler, ask, links } = makeHandler();
    const token = (links.mint(ask, ["alice"])["alice"] ?? "").split("/").at(-1) ?? "";
    for (const path of [`/${token}`, `/some/where/${token}`, `/acp/${token}?x=1`])
      expect(
        (await handler(new Request(`https://gate.example${path}`))).headers.get("content-type"),
      ).toContain("text/html");
    for (const path of [`/${token}/`, `/${token}/x`, `/x${token}`, `/${token.toUpperCase()}`])
      expect(
        (await handler(new Request(`https://gate.example${path}`))).headers.get("content-type"),
      ).toContain("application/json");
  });

  it("is not served where the channel has no links", async () => {
    const { handler } = makeHandler({ serveLinks: false });
    expect((await handler(new Request(`https://gate.example/q_${"A".repeat(43)}`))).status).toBe(
      405,
    );
  });
});
