import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import type { PostParts, Reply } from "./post.js";
import { createSend } from "./send.js";
import { readSecrets } from "./secret.js";
import { verifyWebhook } from "./signature.js";
import { readTarget } from "./target.js";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const message = { id: "msg_1", body: new TextEncoder().encode("{}") };

type Behaviour = (parts: PostParts) => Promise<Reply>;

const says =
  (status: number, headers: Reply["headers"] = {}): Behaviour =>
  async () => ({ status, headers, body: undefined });
const breaks: Behaviour = () =>
  Promise.reject(Object.assign(new Error("socket hang up"), { code: "ECONNRESET" }));
const hangs: Behaviour = ({ signal }) =>
  new Promise((_resolve, reject) =>
    signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true }),
  );

/** A sender whose receiver does one thing after the other, the last one for ever. */
function makeSend(...behaviours: readonly Behaviour[]) {
  const clock = manualClock();
  const attempts: { readonly atMs: number; readonly parts: PostParts }[] = [];
  const warnings: string[] = [];
  const resolved: string[] = [];
  const over = new AbortController();
  const send = createSend({
    target: readTarget("https://receiver.example/secret-path", []),
    keys: readSecrets(SECRET),
    clock,
    timeoutMs: 30_000,
    warn: (text) => void warnings.push(text),
    resolve: async (host) => {
      resolved.push(host);
      return ["8.8.8.8"];
    },
    post: (parts) => {
      attempts.push({ atMs: clock.monotonic(), parts });
      return (behaviours[Math.min(attempts.length, behaviours.length) - 1] ?? breaks)(parts);
    },
  });
  return { send, clock, attempts, warnings, resolved, over };
}

describe("createSend()", () => {
  it("resolves with the first success", async () => {
    const { send, attempts, over } = makeSend(says(202));
    expect(await send(message, { signal: over.signal })).toMatchObject({ status: 202 });
    expect(attempts).toHaveLength(1);
  });

  it("tries again after 5 s, 30 s, 2 min, 5 min and every 15 min, more or less: same id, new time, new signature, name resolved anew", async () => {
    const { send, clock, attempts, warnings, resolved, over } = makeSend(
      says(503),
      breaks,
      says(429),
      says(408),
      says(500),
      says(502),
      says(200),
    );
    const sending = send(message, { signal: over.signal });
    await clock.advance(3_600_000);
    expect(await sending).toMatchObject({ status: 200 });
    const gaps = attempts.slice(1).map(({ atMs }, at) => atMs - (attempts[at]?.atMs ?? 0));
    expect(gaps).toHaveLength(6);
    for (const [at, planned] of [5_000, 30_000, 120_000, 300_000, 900_000, 900_000].entries()) {
      expect(gaps[at]).toBeGreaterThanOrEqual(planned * 0.8);
      expect(gaps[at]).toBeLessThanOrEqual(planned * 1.2);
    }
    expect(new Set(attempts.map(({ parts }) => parts.headers["webhook-id"]))).toEqual(
      new Set(["msg_1"]),
    );
    const times = attempts.map(({ parts }) => parts.headers["webhook-timestamp"]);
    expect(new Set(times).size).toBe(7);
    for (const [at, { parts }] of attempts.entries())
      expect(verifyWebhook(parts, { secret: SECRET, nowMs: Number(times[at]) * 1000 })).toEqual({
        ok: true,
        id: "msg_1",
      });
    expect(resolved).toHaveLength(7);
    expect(warnings).toHaveLength(6);
    expect(warnings.join("\n")).not.toContain("secret-path");
  });

  it("waits as long as Retry-After says", async () => {
    const { send, clock, attempts, over } = makeSend(says(429, { "retry-after": "60" }), says(200));
    const sending = send(message, { signal: over.signal });
    await clock.advance(59_999);
    expect(attempts).toHaveLength(1);
    await clock.advance(1);
    expect(await sending).toMatchObject({ status: 200 });
  });

  it.each([301, 307, 308, 400, 401, 403, 404, 410, 413])(
    "gives up at once after %i",
    async (status) => {
      const { send, attempts, over } = makeSend(says(status));
      await expect(send(message, { signal: over.signal })).rejects.toMatchObject({
        code: "channel_failed",
        message: expect.stringContaining(String(status)),
      });
      expect(attempts).toHaveLength(1);
    },
  );

  it("gives an attempt its time, and then tries again", async () => {
    const { send, clock, attempts, warnings, over } = makeSend(hangs, says(200));
    const sending = send(message, { signal: over.signal });
    await clock.advance(29_999);
    expect(attempts[0]?.parts.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(attempts[0]?.parts.signal.aborted).toBe(true);
    expect(warnings).toEqual([expect.stringContaining("no complete answer within 30000 ms")]);
    await clock.advance(6_000);
    expect(await sending).toMatchObject({ status: 200 });
  });

  it("stops when the question ends, in the middle of an attempt and between two", async () => {
    const middle = makeSend(hangs);
    const sending = middle.send(message, { signal: middle.over.signal });
    await middle.clock.advance(0);
    middle.over.abort(new Error("over"));
    await expect(sending).rejects.toThrow("over");

    const between = makeSend(breaks);
    const waiting = between.send(message, { signal: between.over.signal });
    await between.clock.advance(1_000);
    between.over.abort(new Error("over"));
    await expect(waiting).rejects.toThrow("over");
    await between.clock.advance(3_600_000);
    expect(between.attempts).toHaveLength(1);

    await expect(between.send(message, { signal: between.over.signal })).rejects.toThrow("over");
    expect(between.attempts).toHaveLength(1);
  });

  it("ends between attempts where its patience does, and lets one that is under way come to its end", async () => {
    const patience = new AbortController();
    const { send, clock, attempts, over } = makeSend(breaks, says(200));
    const sending = send(message, { signal: over.signal, patience: patience.signal });
    await clock.advance(1_000);
    patience.abort(new Error("closing"));
    await expect(sending).rejects.toThrow("closing");
    expect(await send(message, { signal: over.signal, patience: patience.signal })).toMatchObject({
      status: 200,
    });
    expect(attempts).toHaveLength(2);
  });

  it("gives up after the attempts it was given", async () => {
    const { send, clock, attempts, over } = makeSend(breaks);
    const sending = send(message, { signal: over.signal, attemptsMax: 3 }).catch(
      (error: unknown) => error,
    );
    await clock.advance(3_600_000);
    expect(await sending).toMatchObject({
      code: "channel_failed",
      message: expect.stringContaining("ECONNRESET"),
    });
    expect(attempts).toHaveLength(3);
  });

  it("never connects to an address that it may not, and does not ask again", async () => {
    const clock = manualClock();
    let told = 0;
    const send = createSend({
      target: readTarget("https://receiver.example/", []),
      keys: readSecrets(SECRET),
      clock,
      timeoutMs: 30_000,
      warn: () => undefined,
      resolve: async () => ["169.254.169.254"],
      post: () => Promise.reject(new Error("it connected")),
    });
    const onAttempt = (): void => void told++;
    await expect(
      send(message, { signal: new AbortController().signal, onAttempt }),
    ).rejects.toMatchObject({
      code: "channel_failed",
      message: expect.stringContaining("169.254.169.254"),
    });
    expect(told).toBe(0);
  });
});
