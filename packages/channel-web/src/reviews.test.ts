import { describe, expect, it } from "vitest";
import { answerTo, passkeyOf } from "../test/keys.js";
import { ORIGIN } from "../test/page.js";
import { NEW_DIGEST, OLD_DIGEST, REVIEW_ID, reviewsDouble } from "../test/reviews.js";
import { setUp } from "../test/setup.js";
import { memoryPasskeys } from "./memory-passkeys.js";

const ORDER = { review: REVIEW_ID, digest: OLD_DIGEST, picks: [1] };

describe("the routes of reviews", () => {
  it.each([
    ["GET", "/api/reviews"],
    ["POST", "/api/reviews/show"],
    ["POST", "/api/reviews/prepare"],
    ["POST", "/api/reviews/take"],
    ["POST", "/api/reviews/drop"],
  ])(
    "%s %s is for who is signed in and names the key, from the page's own origin",
    async (method, path) => {
      const { inbox } = setUp({ reviews: reviewsDouble() });
      const signedIn = await inbox.handler(
        new Request(`${ORIGIN}/api/session`, {
          method: "POST",
          headers: { origin: ORIGIN, "content-type": "application/json", "x-acp-inbox": "1" },
          body: JSON.stringify({ code: inbox.signInCode("ada") }),
        }),
      );
      const { key } = (await signedIn.json()) as { readonly key: string };
      const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
      const good = {
        origin: ORIGIN,
        "content-type": "application/json",
        "x-acp-inbox": key,
        cookie,
      };
      const send = async (headers: Record<string, string>): Promise<number> =>
        (
          await inbox.handler(
            new Request(ORIGIN + path, {
              method,
              headers,
              ...(method === "POST" ? { body: "{}" } : {}),
            }),
          )
        ).status;
      expect(await send(good)).not.toBe(401);
      expect(await send({ ...good, "x-acp-inbox": "1" })).toBe(401);
      expect(await send({ ...good, cookie: "" })).toBe(401);
      expect(await send({ ...good, "sec-fetch-site": "cross-site" })).toBe(403);
      if (method === "POST")
        expect(await send({ ...good, origin: "http://localhost:3000" })).toBe(403);
    },
  );

  it("show and settle nothing for somebody who is no reviewer", async () => {
    const reviews = reviewsDouble("ada");
    const page = await setUp({ reviews, passkeyFrom: "rules-only" }).signedIn("bob");
    expect(await page.get("/api/reviews")).toMatchObject({
      body: { may_review: false, reviews: [] },
    });
    for (const [path, body] of [
      ["show", { review: REVIEW_ID }],
      ["prepare", ORDER],
      ["drop", { review: REVIEW_ID, digest: OLD_DIGEST }],
    ] as const)
      expect(await page.post(`/api/reviews/${path}`, body)).toMatchObject({
        status: 403,
        body: { code: "not_a_reviewer" },
      });
    expect(reviews.done).toEqual([]);
  });

  it("take with a passkey of this person, once, what was prepared", async () => {
    const reviews = reviewsDouble();
    const passkeys = memoryPasskeys();
    const page = await setUp({ reviews, passkeys }).signedIn();
    expect(await page.post("/api/reviews/prepare", ORDER)).toMatchObject({
      status: 403,
      body: { code: "passkey_missing" },
    });
    await passkeys.add(passkeyOf("ada"));
    await passkeys.add(passkeyOf("bob"));
    const without = await page.post("/api/reviews/prepare", ORDER);
    expect(await page.post("/api/reviews/take", { ticket: without.body.ticket })).toMatchObject({
      body: { code: "passkey_required" },
    });
    const others = await page.post("/api/reviews/prepare", ORDER);
    const foreign = {
      ticket: others.body.ticket,
      assertion: answerTo(others.body.passkey, "key-of-bob"),
    };
    expect(await page.post("/api/reviews/take", foreign)).toMatchObject({
      body: { code: "passkey_refused" },
    });
    const [one, two] = [
      await page.post("/api/reviews/prepare", ORDER),
      await page.post("/api/reviews/prepare", { ...ORDER, picks: [2] }),
    ];
    const mixed = { ticket: two.body.ticket, assertion: answerTo(one.body.passkey, "key-of-ada") };
    expect(await page.post("/api/reviews/take", mixed)).toMatchObject({
      body: { code: "passkey_refused" },
    });
    expect(reviews.done).toEqual([]);
    const good = { ticket: one.body.ticket, assertion: answerTo(one.body.passkey, "key-of-ada") };
    expect(await page.post("/api/reviews/take", good)).toMatchObject({
      status: 200,
      body: { lines: ["Took 1 changes"] },
    });
    expect(await page.post("/api/reviews/take", good)).toMatchObject({ status: 410 });
    expect(reviews.done).toEqual([
      {
        verb: "take",
        order: { id: REVIEW_ID, digest: OLD_DIGEST, picks: [1] },
        by: { approver: "ada", channel: "inbox", passkey: "key-of-ada" },
      },
    ]);
  });

  it("refuse a digest that is not what is frozen, a review whose agent runs, and what is no order", async () => {
    const reviews = reviewsDouble();
    const page = await setUp({ reviews, passkeyFrom: "critical" }).signedIn();
    const { body } = await page.post("/api/reviews/prepare", ORDER);
    reviews.change();
    expect(await page.post("/api/reviews/take", { ticket: body.ticket })).toMatchObject({
      status: 409,
      body: { code: "review_changed" },
    });
    const stale = { review: REVIEW_ID, digest: OLD_DIGEST };
    expect(await page.post("/api/reviews/drop", stale)).toMatchObject({
      status: 409,
      body: { code: "review_changed" },
    });
    reviews.run();
    const running = { review: REVIEW_ID, digest: NEW_DIGEST };
    expect(await page.post("/api/reviews/drop", running)).toMatchObject({
      status: 409,
      body: { code: "review_running" },
    });
    for (const picks of [
      [],
      [1, 1],
      [-1],
      [0.5],
      ["1"],
      "all",
      Array.from({ length: 10_001 }, (_, index) => index),
    ])
      expect(await page.post("/api/reviews/prepare", { ...ORDER, picks })).toMatchObject({
        status: 400,
      });
    for (const review of ["../../etc", "", "0123456789AB"])
      expect((await page.post("/api/reviews/drop", { review, digest: OLD_DIGEST })).status).toBe(
        400,
      );
    expect(await page.post("/api/reviews/show", { review: "ffffffffffff" })).toMatchObject({
      status: 404,
      body: { code: "review_unknown" },
    });
    expect(reviews.done).toEqual([]);
  });

  it("say what failed, and end nothing", async () => {
    const reviews = {
      ...reviewsDouble(),
      show: () => Promise.reject(new Error("disk on \u001bfire")),
    };
    const { signedIn, warnings } = setUp({ reviews });
    const page = await signedIn();
    expect(await page.post("/api/reviews/show", { review: REVIEW_ID })).toMatchObject({
      status: 503,
      body: { code: "reviews_unavailable", message: String.raw`disk on \u001bfire` },
    });
    expect(warnings).toHaveLength(1);
  });
});
