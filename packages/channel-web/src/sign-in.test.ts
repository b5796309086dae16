import { describe, expect, it } from "vitest";
import { answerTo, passkeyOf } from "../test/keys.js";
import { openPage } from "../test/page.js";
import { setUp } from "../test/setup.js";
import { memoryPasskeys } from "./memory-passkeys.js";

describe("POST /api/session", () => {
  it("signs in with a code, once", async () => {
    const { inbox, clock } = setUp();
    const code = inbox.signInCode("ada");
    const [page, other] = [openPage(inbox.handler), openPage(inbox.handler)];
    expect(await page.signIn("/api/session", { code })).toMatchObject({
      status: 200,
      body: { key: expect.stringMatching(/^[\w-]{43}$/) },
    });
    expect(await page.get("/api/session")).toMatchObject({
      body: { approver: "ada", passkeys: 0, passkey_from: "high", now: clock.now() },
    });
    expect(await other.signIn("/api/session", { code })).toMatchObject({
      status: 401,
      body: { code: "code_refused" },
    });
    expect((await other.get("/api/session")).status).toBe(401);
  });

  it("looks at no code for a minute after ten wrong ones, right or not", async () => {
    const { inbox, clock } = setUp();
    const code = inbox.signInCode("ada");
    const page = openPage(inbox.handler);
    for (let n = 0; n < 10; n++)
      expect((await page.signIn("/api/session", { code: "AAAA-AAAA-AAAA" })).status).toBe(401);
    expect(await page.signIn("/api/session", { code })).toMatchObject({
      status: 429,
      body: { code: "too_many_tries" },
    });
    await clock.advance(60_000);
    expect((await page.signIn("/api/session", { code })).status).toBe(200);
  });

  it("does not count what is no code at all", async () => {
    const { inbox } = setUp();
    const page = openPage(inbox.handler);
    for (const body of [{}, { code: 1 }, { code: "x".repeat(65) }, { code: "x", more: 1 }])
      for (let n = 0; n < 5; n++)
        expect(await page.signIn("/api/session", body)).toMatchObject({
          status: 400,
          body: { code: "body_invalid" },
        });
    expect((await page.signIn("/api/session", { code: inbox.signInCode("ada") })).status).toBe(200);
  });

  it("makes codes for people alone", () => {
    expect(() => setUp().inbox.signInCode("mallory")).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });
});

describe("POST /api/session/passkey", () => {
  const keys = () =>
    memoryPasskeys([
      passkeyOf("ada", "k1"),
      passkeyOf("mallory", "k2"),
      { ...passkeyOf("bob", "k3"), revokedAtMs: 1 },
      passkeyOf("bob", "k4"),
    ]);

  it.each([
    ["ada", "k1"],
    ["bob", "k4"],
  ])("signs %s in, whose passkey it is", async (approver, id) => {
    const { inbox } = setUp({ passkeys: keys() });
    const page = openPage(inbox.handler);
    const { body: options } = await page.post("/api/session/passkey/options", {});
    expect(options.allowCredentials).toEqual([]);
    expect((await page.signIn("/api/session/passkey", answerTo(options, id))).status).toBe(200);
    expect(await page.get("/api/session")).toMatchObject({ body: { approver, passkeys: 1 } });
  });

  it.each([
    ["somebody's who may not sign in", "k2", {}],
    ["a revoked one", "k3", {}],
    ["an unknown one", "k9", {}],
    ["a wrong signature", "k1", { signature: "bad" }],
    [
      "another challenge",
      "k1",
      { clientDataJSON: Buffer.from(`{"challenge":"x"}`).toString("base64url") },
    ],
    ["no challenge", "k1", { clientDataJSON: "" }],
  ])("refuses %s, and says the same of each", async (_what, id, response) => {
    const { inbox } = setUp({ passkeys: keys() });
    const page = openPage(inbox.handler);
    const { body: options } = await page.post("/api/session/passkey/options", {});
    const good = answerTo(options, id);
    const refused = await page.signIn("/api/session/passkey", {
      ...good,
      response: { ...(good["response"] as object), ...response },
    });
    expect(refused).toMatchObject({
      status: 401,
      body: { code: "passkey_refused", message: "the passkey's response is not valid" },
    });
  });

  it("takes an answer once, for two minutes", async () => {
    const { inbox, clock } = setUp({ passkeys: keys() });
    const page = openPage(inbox.handler);
    const [one, late] = [
      await page.post("/api/session/passkey/options", {}),
      await page.post("/api/session/passkey/options", {}),
    ];
    expect((await page.signIn("/api/session/passkey", answerTo(one.body, "k1"))).status).toBe(200);
    expect(
      (await openPage(inbox.handler).signIn("/api/session/passkey", answerTo(one.body, "k1")))
        .status,
    ).toBe(401);
    await clock.advance(120_000);
    expect(
      (await openPage(inbox.handler).signIn("/api/session/passkey", answerTo(late.body, "k1")))
        .status,
    ).toBe(401);
  });
});

describe("DELETE /api/session", () => {
  it("signs out, and has the browser forget", async () => {
    const { signedIn } = setUp();
    const page = await signedIn();
    const left = await page.delete("/api/session");
    expect([left.status, left.headers.get("set-cookie")]).toEqual([
      204,
      expect.stringContaining("Max-Age=0"),
    ]);
    expect((await page.get("/api/session")).status).toBe(401);
  });
});
