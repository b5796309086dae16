import { describe, expect, it } from "vitest";
import { passkeyOf } from "../test/keys.js";
import { ORIGIN, openPage } from "../test/page.js";
import { setUp } from "../test/setup.js";
import { memoryPasskeys } from "./memory-passkeys.js";

const SESSION_ROUTES = [
  ["GET", "/api/session"],
  ["DELETE", "/api/session"],
  ["GET", "/api/events"],
  ["GET", "/api/history"],
  ["POST", "/api/answers/prepare"],
  ["POST", "/api/answers"],
  ["POST", "/api/answers/batch"],
  ["GET", "/api/passkeys"],
  ["POST", "/api/passkeys/options"],
  ["POST", "/api/passkeys"],
  ["DELETE", "/api/passkeys/k1"],
] as const;
const CHANGING = { origin: ORIGIN, "content-type": "application/json", "x-acp-inbox": "1" };

async function send(
  handler: (request: Request) => Promise<Response>,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
) {
  const response = await handler(
    new Request(ORIGIN + path, { method, headers, ...(body === undefined ? {} : { body }) }),
  );
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    code: text.startsWith("{") ? JSON.parse(text).code : undefined,
  };
}

describe("handler", () => {
  it.each(SESSION_ROUTES)("%s %s is for who is signed in", async (method, path) => {
    const { inbox } = setUp();
    const headers = method === "GET" ? {} : CHANGING;
    const body = method === "POST" ? "{}" : undefined;
    expect(await send(inbox.handler, method, path, headers, body)).toMatchObject({
      status: 401,
      code: "signed_out",
    });
    expect(
      await send(
        inbox.handler,
        method,
        path,
        { ...headers, cookie: `acp_inbox=${"A".repeat(43)}` },
        body,
      ),
    ).toMatchObject({
      status: 401,
    });
  });

  it.each(SESSION_ROUTES)(
    "%s %s takes the session's key beside its cookie",
    async (method, path) => {
      const { inbox, signedIn, ask } = setUp({
        passkeys: memoryPasskeys([passkeyOf("ada", "k1")]),
      });
      const asked = await ask();
      const [page, other] = [await signedIn(), await signedIn()];
      const body =
        method === "POST"
          ? JSON.stringify({ request_id: asked.request.id, decision: "approved" })
          : undefined;
      for (const key of ["1", "", other.key, page.cookie.slice(page.cookie.indexOf("=") + 1)]) {
        const headers = { ...CHANGING, "x-acp-inbox": key, cookie: page.cookie };
        expect(await send(inbox.handler, method, path, headers, body)).toMatchObject({
          status: 401,
          code: "signed_out",
        });
      }
      expect((await page.get("/api/session")).status).toBe(200);
    },
  );

  it.each(SESSION_ROUTES.filter(([method]) => method !== "GET"))(
    "%s %s from another port's page changes nothing, cookie and key or not",
    async (method, path) => {
      const { inbox, signedIn } = setUp();
      const page = await signedIn();
      const headers = {
        ...CHANGING,
        origin: "http://localhost:3000",
        cookie: page.cookie,
        "x-acp-inbox": page.key,
      };
      expect(
        await send(inbox.handler, method, path, headers, method === "POST" ? "{}" : undefined),
      ).toMatchObject({
        status: 403,
        code: "origin_refused",
      });
    },
  );

  it("is at no other name", async () => {
    const { inbox, signedIn } = setUp();
    const page = await signedIn();
    for (const path of ["/", "/api/session"])
      expect(
        await send(inbox.handler, "GET", path, { host: "evil.example", cookie: page.cookie }),
      ).toMatchObject({
        status: 421,
        code: "host_unknown",
      });
  });

  it.each([
    ["PUT", "/api/answers", "POST"],
    ["GET", "/api/answers", "POST"],
    ["POST", "/api/events", "GET"],
    ["HEAD", "/api/session", "POST, GET, DELETE"],
    ["OPTIONS", "/api/answers", "POST"],
    ["GET", "/api/passkeys/k1", "DELETE"],
    ["POST", "/api/passkeys/options/", "DELETE"],
  ])("%s %s is answered with what is allowed", async (method, path, allow) => {
    const refused = await send(setUp().inbox.handler, method, path, CHANGING);
    if (path.endsWith("/")) expect(refused.status).toBe(404);
    else expect([refused.status, refused.headers.get("allow")]).toEqual([405, allow]);
  });

  it.each([
    "/api/",
    "/api/answer",
    "/api/answers/",
    "/api//answers",
    "/api/passkeys/a/b",
    "/api/passkeys/%2e%2e",
    "/api/Session",
  ])("has nothing at %s", async (path) => {
    expect(await send(setUp().inbox.handler, "GET", path)).toMatchObject({
      status: 404,
      code: "not_found",
    });
  });

  it("opens what is for anybody to our own page alone", async () => {
    const { inbox } = setUp();
    for (const path of ["/api/session", "/api/session/passkey/options", "/api/session/passkey"]) {
      expect(
        await send(inbox.handler, "POST", path, { ...CHANGING, "x-acp-inbox": "2" }, "{}"),
      ).toMatchObject({
        status: 403,
        code: "origin_refused",
      });
      expect(
        await send(
          inbox.handler,
          "POST",
          path,
          { "content-type": "application/json", "x-acp-inbox": "1" },
          "{}",
        ),
      ).toMatchObject({
        status: 403,
      });
    }
  });

  it("reads 16 KiB from a stranger and 1 MiB from who is signed in", async () => {
    const { inbox, signedIn, ask } = setUp();
    const page = await signedIn();
    const { request } = await ask();
    const padded = (bytes: number): string => `{"code":"${"x".repeat(bytes - 11)}"}`;
    expect(
      await send(inbox.handler, "POST", "/api/session", CHANGING, padded(16 * 1024)),
    ).toMatchObject({ status: 400 });
    expect(
      await send(inbox.handler, "POST", "/api/session", CHANGING, padded(16 * 1024 + 1)),
    ).toMatchObject({
      status: 413,
      code: "body_too_large",
    });
    const edit = (length: number) => ({
      request_id: request.id,
      decision: "approved_with_modifications",
      modifications: { content: "x".repeat(length) },
    });
    expect((await page.post("/api/answers/prepare", edit(1_000_000))).status).toBe(200);
    expect(await page.post("/api/answers/prepare", edit(1024 * 1024))).toMatchObject({
      status: 413,
      body: { code: "body_too_large" },
    });
  });

  it.each([
    "",
    "{",
    "[]",
    "null",
    "1",
    `{"code":"a","code":"b"}`,
    `{"code":"\\ud800"}`,
    `{"a":${"[".repeat(70)}${"]".repeat(70)}}`,
    "\ufeff{}",
  ])("has no reading of the body %j", async (body) => {
    expect(await send(setUp().inbox.handler, "POST", "/api/session", CHANGING, body)).toMatchObject(
      { status: 400, code: "body_invalid" },
    );
  });

  it("says that a body was read before", async () => {
    const { inbox } = setUp();
    const request = new Request(`${ORIGIN}/api/session`, {
      method: "POST",
      headers: CHANGING,
      body: "{}",
    });
    await request.text();
    const refused = await inbox.handler(request);
    expect([refused.status, await refused.json()]).toEqual([
      400,
      expect.objectContaining({ code: "body_invalid" }),
    ]);
  });

  it("survives a body that breaks off", async () => {
    const { inbox } = setUp();
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) });
    const request = new Request(`${ORIGIN}/api/session`, {
      method: "POST",
      headers: CHANGING,
      body,
      duplex: "half",
    });
    expect((await inbox.handler(request)).status).toBe(400);
  });

  it("says that the passkeys cannot be read, and lets nobody in or through by that", async () => {
    const fail = async (): Promise<never> => {
      throw new Error("disk");
    };
    const { signedIn, ask, warnings } = setUp({
      passkeys: { list: fail, add: fail, revoke: fail },
    });
    const asked = await ask({ evidence: "passkey" });
    const page = await signedIn();
    const prepared = await page.post("/api/answers/prepare", {
      request_id: asked.request.id,
      decision: "approved",
    });
    for (const answered of [
      prepared,
      await page.get("/api/session"),
      await page.get("/api/passkeys"),
      await page.post("/api/passkeys/options", {}),
    ])
      expect(answered).toMatchObject({ status: 503, body: { code: "passkeys_unavailable" } });
    expect(asked.submissions).toEqual([]);
    expect(warnings).toHaveLength(4);
  });

  it("fails without a word of why to who asks", async () => {
    const broken = new Proxy(new Request(ORIGIN), {
      get: () => {
        throw new Error("secret path");
      },
    });
    const { inbox, warnings } = setUp();
    const failed = await inbox.handler(broken);
    expect([failed.status, await failed.json()]).toEqual([
      500,
      { code: "internal_error", message: "the inbox failed" },
    ]);
    expect(warnings.join()).toContain("secret path");
  });

  it("tells no browser to keep anything, and lets no site read it", async () => {
    const { signedIn } = setUp();
    const { headers } = await (await signedIn()).get("/api/session");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("access-control-allow-origin")).toBeNull();
    expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("refuses everything once the inbox is closed, and ends its streams", async () => {
    const { inbox, signedIn } = setUp();
    const page = await signedIn();
    const stream = await page.events();
    const code = inbox.signInCode("ada");
    await inbox.close();
    await stream.next();
    expect([await stream.next(), await stream.next()]).toEqual([
      expect.objectContaining({ event: "signed_out" }),
      undefined,
    ]);
    expect(await page.get("/api/session")).toMatchObject({ status: 503, body: { code: "closed" } });
    expect(await openPage(inbox.handler).signIn("/api/session", { code })).toMatchObject({
      status: 503,
    });
    await inbox[Symbol.asyncDispose]();
  });
});
