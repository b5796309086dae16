/**
 * The handler against whatever comes: it answers each request, never with 500, and nothing decides
 * but a whole answer of who is signed in.
 */
import { memoryPasskeys } from "../src/memory-passkeys.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { passkeyOf } from "./keys.js";
import { ORIGIN, type Page } from "./page.js";
import { setUp } from "./setup.js";

const METHODS = fc.constantFrom(
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "DELETE",
  "PATCH",
  "OPTIONS",
  "PROPFIND",
);
const ROUTES = [
  "/",
  "/app.js",
  "/api/session",
  "/api/session/passkey",
  "/api/session/passkey/options",
  "/api/events",
  "/api/history",
  "/api/history?limit=3",
  "/api/answers",
  "/api/answers/prepare",
  "/api/answers/batch",
  "/api/passkeys",
  "/api/passkeys/options",
  "/api/passkeys/key-of-ada",
];
const POSTED = ROUTES.filter((path) => path.startsWith("/api/") && !path.includes("?"));
const PATHS = fc.oneof(
  fc.constantFrom(...ROUTES),
  fc.tuple(fc.constantFrom(...ROUTES), fc.webPath()).map(([route, more]) => route + more),
  fc.webPath(),
  fc.stringMatching(/^\/api\/[!-~]{0,20}$/),
);
const NAMES = fc.constantFrom(
  "host",
  "origin",
  "content-type",
  "content-length",
  "cookie",
  "x-acp-inbox",
  "sec-fetch-site",
  "last-event-id",
  "if-none-match",
  "transfer-encoding",
);
const KNOWN = [200, 201, 204, 304, 400, 401, 403, 404, 405, 409, 410, 413, 421, 429];

/** A good body with something done to it, or none at all. */
const bent = (good: object): fc.Arbitrary<string> => {
  const text = JSON.stringify(good);
  return fc.oneof(
    fc
      .tuple(fc.nat(text.length - 1), fc.string({ maxLength: 3 }))
      .map(([at, more]) => text.slice(0, at) + more + text.slice(at + 1)),
    fc.nat(text.length - 1).map((at) => text.slice(0, at)),
    fc
      .tuple(
        fc.constantFrom(...Object.keys(good), "approved", "__proto__", "proof", "approver"),
        fc.jsonValue(),
      )
      .map(([key, value]) => JSON.stringify({ ...good, [key]: value })),
    fc.json(),
    fc.string({ unit: "binary" }),
  );
};

async function make() {
  const setup = setUp({ passkeys: memoryPasskeys([passkeyOf("ada")]) });
  const [plain, guarded] = [await setup.ask(), await setup.ask({ evidence: "passkey" })];
  return { ...setup, plain, guarded, page: await setup.signedIn() };
}

const changing = (page: Page): Record<string, string> => ({
  origin: ORIGIN,
  "content-type": "application/json",
  "x-acp-inbox": page.key,
  cookie: page.cookie,
});

async function send(
  handler: (request: Request) => Promise<Response>,
  request: Request,
): Promise<number> {
  const response = await handler(request);
  expect(KNOWN).toContain(response.status);
  await response.body?.cancel();
  return response.status;
}

describe("handler, fuzzed", () => {
  it("a request of nobody decides nothing and reads nothing, whatever its method, path, headers and body", async () => {
    const values = fc.oneof(
      fc.stringMatching(/^[ -~]{0,60}$/),
      fc.constantFrom(
        ORIGIN,
        "localhost:8789",
        "application/json",
        "1",
        `acp_inbox=${"A".repeat(43)}`,
        "same-origin",
        "cross-site",
      ),
    );
    const { inbox, plain, guarded } = await make();
    const good = { request_id: plain.request.id, decision: "approved" };
    await fc.assert(
      fc.asyncProperty(
        METHODS,
        PATHS,
        fc.dictionary(NAMES, values),
        bent(good),
        async (method, path, headers, body) => {
          const withBody = method === "GET" || method === "HEAD" ? {} : { body };
          const request = new Request(ORIGIN + path, { method, headers, ...withBody });
          const status = await send(inbox.handler, request);
          const { pathname } = new URL(request.url);
          // Only the options of a sign-in are for anybody.
          if (status === 200 && pathname.startsWith("/api/"))
            expect(pathname).toBe("/api/session/passkey/options");
          expect([plain.submissions, guarded.submissions]).toEqual([[], []]);
        },
      ),
    );
  });

  it("a request of somebody who is signed in gets no 500, and prepares at most", async () => {
    const { inbox, plain, guarded, signedIn } = await make();
    const bodies = fc.oneof(
      ...[plain, guarded].flatMap(({ request }) => [
        bent({ request_id: request.id, decision: "approved", reason: "x", word: "approve" }),
        bent({
          request_id: request.id,
          decision: "approved_with_modifications",
          modifications: { path: "x" },
        }),
      ]),
      bent({ registration: { id: "x", response: {} }, label: "x" }),
      bent({ ticket: "x", assertion: { id: "key-of-ada" } }),
    );
    let page = await signedIn();
    await fc.assert(
      fc.asyncProperty(METHODS, PATHS, bodies, async (method, path, body) => {
        const withBody = method === "GET" || method === "HEAD" ? {} : { body };
        await send(
          inbox.handler,
          new Request(ORIGIN + path, { method, headers: changing(page), ...withBody }),
        );
        if ((await page.get("/api/session")).status === 401) page = await signedIn();
        expect([plain.submissions, guarded.submissions]).toEqual([[], []]);
      }),
    );
  });

  it("a ticket is sent whole, or nothing is", async () => {
    const { inbox, page, signedIn, ask } = await make();
    const other = await signedIn("bob");
    const cases = fc.constantFrom<"plain" | "guarded">("plain", "guarded");
    await fc.assert(
      fc.asyncProperty(
        cases,
        fc.boolean(),
        fc.nat(),
        fc.jsonValue(),
        async (kind, isOther, seed, assertion) => {
          const asked = await ask(kind === "guarded" ? { evidence: "passkey" } : {});
          const { ticket } = (
            await page.post("/api/answers/prepare", {
              request_id: asked.request.id,
              decision: "approved",
            })
          ).body;
          const whole = { ticket, ...(kind === "guarded" ? { assertion } : {}) };
          const [body = ""] = fc.sample(bent(whole), { numRuns: 1, seed });
          const status = await send(
            inbox.handler,
            new Request(`${ORIGIN}/api/answers`, {
              method: "POST",
              headers: changing(isOther ? other : page),
              body,
            }),
          );
          if (asked.submissions.length > 0) {
            expect([kind, isOther, status]).toEqual(["plain", false, 200]);
            expect(JSON.parse(body)).toEqual({ ticket });
          }
          asked.end({ status: "cancelled", reason: "" });
        },
      ),
    );
  });

  it("a batch answers what it names with its digest, or nothing", async () => {
    const { inbox, page, ask } = await make();
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const [asked, left] = [await ask(), await ask()];
        const good = {
          items: [{ request_id: asked.request.id, action_digest: asked.request.actionDigest }],
          decision: "approved",
        };
        const [body = ""] = fc.sample(bent(good), { numRuns: 1, seed });
        await send(
          inbox.handler,
          new Request(`${ORIGIN}/api/answers/batch`, {
            method: "POST",
            headers: changing(page),
            body,
          }),
        );
        expect(left.submissions).toEqual([]);
        if (asked.submissions.length > 0) {
          const { items, decision } = JSON.parse(body) as typeof good;
          expect([items, decision]).toEqual([good.items, asked.ending()?.status]);
        }
        for (const each of [asked, left]) each.end({ status: "cancelled", reason: "" });
      }),
    );
  });

  it("no header makes a page of another origin ours", async () => {
    const { inbox, page, plain } = await make();
    const foreign = fc.oneof(
      fc.webUrl(),
      fc.constantFrom(
        "null",
        "http://localhost:3000",
        "https://localhost:8789",
        `${ORIGIN}.evil.example`,
        `${ORIGIN}/`,
        "",
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...POSTED), foreign, async (path, origin) => {
        fc.pre(origin !== ORIGIN);
        const body = JSON.stringify({ request_id: plain.request.id, decision: "approved" });
        const request = new Request(ORIGIN + path, {
          method: "POST",
          headers: { ...changing(page), origin },
          body,
        });
        expect([403, 405]).toContain(await send(inbox.handler, request));
      }),
    );
  });
});
