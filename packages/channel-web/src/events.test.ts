import { describe, expect, it } from "vitest";
import { passkeyOf, answerTo } from "../test/keys.js";
import { openPage, readStream } from "../test/page.js";
import { setUp, settled } from "../test/setup.js";
import { memoryPasskeys } from "./memory-passkeys.js";
import type { PasskeyStore } from "./passkey.js";
import { ORIGIN } from "../test/page.js";

const rest = async (stream: Awaited<ReturnType<ReturnType<typeof openPage>["events"]>>) => {
  const names: string[] = [];
  for (let next = await stream.next(); next !== undefined; next = await stream.next())
    names.push(next === "comment" ? next : next.event);
  return names;
};

describe("GET /api/events", () => {
  it("begins with everything that is open, and tells what comes and ends", async () => {
    const { ask, signedIn, clock } = setUp();
    const before = await ask();
    const page = await signedIn();
    const stream = await page.events();
    expect(await stream.next()).toMatchObject({
      id: "1",
      event: "hello",
      data: {
        approver: "ada",
        now: clock.now(),
        open: [{ request: { id: before.request.id }, channel: "web", may_answer: true }],
      },
    });
    const after = await ask();
    expect(await stream.next()).toMatchObject({
      id: "2",
      event: "open",
      data: { request: { id: after.request.id, text: after.request.text } },
    });
    before.end({
      status: "superseded",
      reason: "another \u202e look",
      successorId: after.request.id,
    });
    expect(await stream.next()).toEqual({
      id: "3",
      event: "ended",
      data: {
        id: before.request.id,
        status: "superseded",
        reason: "another \\u202e look",
        successor_id: after.request.id,
        at: clock.now(),
      },
    });
  });

  it("begins again whole for a page that comes back", async () => {
    const { ask, signedIn, inbox } = setUp();
    await ask();
    const page = await signedIn();
    const headers = { cookie: page.cookie, "x-acp-inbox": page.key, "last-event-id": "7" };
    const stream = readStream(
      await inbox.handler(new Request(`${ORIGIN}/api/events`, { headers })),
    );
    expect(await stream.next()).toMatchObject({ event: "hello", data: { open: [{}] } });
  });

  it("says every 15 seconds that it is still there", async () => {
    const { signedIn, clock } = setUp();
    const stream = await (await signedIn()).events();
    await stream.next();
    await clock.advance(15_000);
    expect(await stream.next()).toBe("comment");
  });

  it("tells of an escalation when it is due", async () => {
    const { ask, signedIn, clock } = setUp();
    const stream = await (await signedIn("bob")).events();
    await ask({ approvers: ["ada", "bob"], escalation: [{ afterMs: 30_000, approvers: ["bob"] }] });
    await stream.next();
    expect(await stream.next()).toMatchObject({ event: "open", data: { may_answer: false } });
    await clock.advance(30_000);
    expect([await stream.next(), await stream.next(), await stream.next()]).toContainEqual(
      expect.objectContaining({
        event: "open",
        data: expect.objectContaining({ may_answer: true }),
      }),
    );
  });

  it("ends, and says so, when its person signs out", async () => {
    const { signedIn } = setUp();
    const page = await signedIn();
    const [stream, other] = [await page.events(), await (await signedIn()).events()];
    await page.delete("/api/session");
    expect(await rest(stream)).toEqual(["hello", "signed_out"]);
    expect(await other.next()).toMatchObject({ event: "hello" });
  });

  it("ends when its session is too old", async () => {
    const { signedIn, clock } = setUp();
    const stream = await (await signedIn()).events();
    await clock.advance(12 * 3_600_000);
    const names = await rest(stream);
    expect([names[0], names.at(-1)]).toEqual(["hello", "signed_out"]);
  });

  it("ends within a beat of its passkey being revoked elsewhere, and comes back where the store cannot be asked", async () => {
    let isBroken = false;
    const store = memoryPasskeys([passkeyOf("ada", "k1"), passkeyOf("ada", "k2")]);
    const passkeys: PasskeyStore = {
      ...store,
      list: async () => {
        if (isBroken) throw new Error("disk");
        return store.list();
      },
    };
    const { inbox, clock } = setUp({ passkeys });
    const streams = [];
    for (const id of ["k1", "k2"]) {
      const page = openPage(inbox.handler);
      const options = await page.post("/api/session/passkey/options", {});
      await page.signIn("/api/session/passkey", answerTo(options.body, id));
      streams.push(await page.events());
    }
    const [revoked, other] = streams;
    await store.revoke("k1", "ada", clock.now());
    await clock.advance(15_000);
    expect(revoked && (await rest(revoked))).toEqual(["hello", "signed_out"]);
    isBroken = true;
    await clock.advance(15_000);
    expect(other && (await rest(other))).toEqual(["hello", "comment"]);
  });

  it("lets go of a page that left, as its stream or its server says", async () => {
    const { inbox, signedIn, ask } = setUp();
    const page = await signedIn();
    const gone = new AbortController();
    const stream = await page.events();
    const other = readStream(
      await inbox.handler(
        new Request(`${ORIGIN}/api/events`, {
          headers: { cookie: page.cookie, "x-acp-inbox": page.key },
          signal: gone.signal,
        }),
      ),
    );
    await stream.cancel();
    gone.abort();
    await settled();
    await ask();
    expect(await rest(other)).toEqual(["hello"]);
    // What was let go of is not the oldest any more that a new one replaces: sixteen fit.
    const streams = [];
    for (let n = 0; n < 16; n++) streams.push(await page.events());
    for (const each of streams) await each.next();
    await ask();
    for (const each of streams) expect(await each.next()).toMatchObject({ event: "open" });
  });

  it("ends the oldest of seventeen streams of one person", async () => {
    const { signedIn } = setUp();
    const page = await signedIn();
    const others = await (await signedIn("bob")).events();
    const streams = [];
    for (let n = 0; n < 17; n++) streams.push(await page.events());
    const [first, second] = streams;
    expect(first && (await rest(first))).toEqual(["hello"]);
    await page.delete("/api/session");
    expect(second && (await rest(second))).toEqual(["hello", "signed_out"]);
    expect(await others.next()).toMatchObject({ event: "hello" });
  });

  it("cuts a page off that does not read, and keeps nothing for it", async () => {
    const { signedIn, ask, inbox } = setUp();
    const page = await signedIn();
    const response = await inbox.handler(
      new Request(`${ORIGIN}/api/events`, {
        headers: { cookie: page.cookie, "x-acp-inbox": page.key },
      }),
    );
    for (let n = 0; n < 5; n++) await ask({ text: "x".repeat(2 * 1024 * 1024 - 1) });
    await expect(response.body?.getReader().read()).rejects.toThrow("does not read");
    expect(await (await page.events()).next()).toMatchObject({
      event: "hello",
      data: { open: [{}, {}, {}, {}, {}] },
    });
  });
});
