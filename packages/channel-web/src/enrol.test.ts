import { describe, expect, it } from "vitest";
import { answerTo, passkeyOf } from "../test/keys.js";
import { type Page, openPage } from "../test/page.js";
import { type Setup, setUp } from "../test/setup.js";
import { memoryPasskeys } from "./memory-passkeys.js";

const MINUTES_MS = 60_000;

async function enrol(page: Page, id: string, label = id) {
  const options = await page.post("/api/passkeys/options", {});
  if (options.status !== 200) return options;
  return page.post("/api/passkeys", { registration: answerTo(options.body, id), label });
}

async function withPasskey({ inbox }: Setup, id: string): Promise<Page> {
  const page = openPage(inbox.handler);
  await page.signIn(
    "/api/session/passkey",
    answerTo((await page.post("/api/session/passkey/options", {})).body, id),
  );
  return page;
}

describe("POST /api/passkeys", () => {
  it("adds a first one after a sign-in with a code, and more after a sign-in with a passkey", async () => {
    const setup = setUp();
    const page = await setup.signedIn();
    expect(await enrol(page, "k1", "phone")).toMatchObject({ status: 201, body: { id: "k1" } });
    expect(await enrol(page, "k2")).toMatchObject({
      status: 403,
      body: { code: "passkey_required" },
    });
    const other = await withPasskey(setup, "k1");
    expect((await enrol(other, "k2", "  ")).status).toBe(201);
    expect(await other.get("/api/passkeys")).toMatchObject({
      body: {
        passkeys: [
          { id: "k1", label: "phone", created_at: setup.clock.now() },
          { id: "k2", label: "passkey", created_at: setup.clock.now() },
        ],
      },
    });
    expect(setup.warnings.filter((text) => text.includes("was added"))).toHaveLength(2);
  });

  it("adds none from a session that is ten minutes old: it may be another's by now", async () => {
    const { signedIn, clock } = setUp();
    const page = await signedIn();
    const early = await page.post("/api/passkeys/options", {});
    await clock.advance(10 * MINUTES_MS);
    expect(await enrol(page, "k1")).toMatchObject({ status: 403, body: { code: "sign_in_again" } });
    expect(
      (await page.post("/api/passkeys", { registration: answerTo(early.body, "k1"), label: "" }))
        .status,
    ).toBe(403);
  });

  it("adds none ten minutes after the passkey was used", async () => {
    const setup = setUp({ passkeys: memoryPasskeys([passkeyOf("ada", "k1")]) });
    const page = await withPasskey(setup, "k1");
    await setup.clock.advance(10 * MINUTES_MS - 1);
    expect((await enrol(page, "k2")).status).toBe(201);
    await setup.clock.advance(1);
    expect(await enrol(page, "k3")).toMatchObject({
      status: 403,
      body: { code: "passkey_required" },
    });
  });

  it("lets no old session replace a passkey that was revoked", async () => {
    const passkeys = memoryPasskeys([passkeyOf("ada", "k1")]);
    const setup = setUp({ passkeys });
    const thief = await setup.signedIn();
    await setup.clock.advance(10 * MINUTES_MS);
    await passkeys.revoke("k1", "ada", setup.clock.now());
    expect((await enrol(thief, "k2")).status).toBe(403);
  });

  it("takes a registration once, of the session that asked", async () => {
    const setup = setUp();
    const [page, other] = [await setup.signedIn(), await setup.signedIn("bob")];
    const { body: options } = await page.post("/api/passkeys/options", {});
    const registration = answerTo(options, "k1");
    expect(await other.post("/api/passkeys", { registration, label: "" })).toMatchObject({
      status: 400,
      body: { code: "passkey_refused" },
    });
    expect((await page.post("/api/passkeys", { registration, label: "" })).status).toBe(201);
    expect((await page.post("/api/passkeys", { registration, label: "" })).status).toBe(403);
  });

  it("refuses what is no registration, and one whose id is another person's", async () => {
    const setup = setUp({ passkeys: memoryPasskeys([passkeyOf("bob", "k1")]) });
    const page = await setup.signedIn();
    const options = await page.post("/api/passkeys/options", {});
    const { id: _id, ...nameless } = answerTo(options.body, "k2");
    expect(await page.post("/api/passkeys", { registration: nameless, label: "" })).toMatchObject({
      status: 400,
      body: { code: "passkey_refused" },
    });
    expect(await enrol(page, "k1")).toMatchObject({
      status: 400,
      body: { code: "passkey_refused" },
    });
    for (const body of [
      {},
      { registration: "x", label: "" },
      { registration: {} },
      { registration: {}, label: "x".repeat(65) },
    ])
      expect(await page.post("/api/passkeys", body)).toMatchObject({ status: 400 });
  });

  it("adds 32 a person", async () => {
    const passkeys = memoryPasskeys(
      Array.from({ length: 31 }, (_, n) => passkeyOf("ada", `k${n}`)),
    );
    const page = await withPasskey(setUp({ passkeys }), "k1");
    expect((await enrol(page, "last")).status).toBe(201);
    expect(await enrol(page, "more")).toMatchObject({
      status: 400,
      body: { code: "passkey_refused" },
    });
  });

  it("writes a label so that it hides nothing", async () => {
    const setup = setUp();
    const page = await setup.signedIn();
    await enrol(page, "k1", "a\u202eb");
    expect(await page.get("/api/passkeys")).toMatchObject({
      body: { passkeys: [{ label: "a\\u202eb" }] },
    });
  });
});

describe("DELETE /api/passkeys/<id>", () => {
  it("revokes a person's own, and ends what it signed in to", async () => {
    const setup = setUp({
      passkeys: memoryPasskeys([
        passkeyOf("ada", "k1"),
        passkeyOf("ada", "k2"),
        passkeyOf("bob", "k3"),
      ]),
    });
    const [page, other] = [await withPasskey(setup, "k1"), await withPasskey(setup, "k2")];
    expect((await page.delete("/api/passkeys/k3")).status).toBe(404);
    expect((await page.delete("/api/passkeys/k9")).status).toBe(404);
    const stream = await other.events();
    await stream.next();
    expect((await page.delete("/api/passkeys/k2")).status).toBe(204);
    expect(await stream.next()).toMatchObject({ event: "signed_out" });
    expect((await page.delete("/api/passkeys/k2")).status).toBe(404);
    expect((await other.get("/api/session")).status).toBe(401);
    expect(await page.get("/api/passkeys")).toMatchObject({
      body: { passkeys: [{ id: "k1" }, { id: "k2", revoked_at: setup.clock.now() }] },
    });
  });

  it("takes a passkey that was just used", async () => {
    const setup = setUp({ passkeys: memoryPasskeys([passkeyOf("ada", "k1")]) });
    const byCode = await setup.signedIn();
    expect(await byCode.delete("/api/passkeys/k1")).toMatchObject({
      status: 403,
      body: { code: "passkey_required" },
    });
    const page = await withPasskey(setup, "k1");
    await setup.clock.advance(10 * MINUTES_MS);
    expect((await page.delete("/api/passkeys/k1")).status).toBe(403);
  });
});

describe("a passkey revoked elsewhere", () => {
  it("ends what it signed in to at once", async () => {
    const passkeys = memoryPasskeys([passkeyOf("ada", "k1")]);
    const setup = setUp({ passkeys });
    const page = await withPasskey(setup, "k1");
    expect((await page.get("/api/session")).status).toBe(200);
    await passkeys.revoke("k1", "ada", setup.clock.now());
    expect((await page.get("/api/session")).status).toBe(401);
  });
});
