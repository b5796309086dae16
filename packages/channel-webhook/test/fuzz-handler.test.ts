/**
 * The handler against whatever comes: it answers each request, rejects none, and nothing but a good
 * answer decides.
 */
import { makeResponse } from "@acp/core";
import { askDouble, manualClock, sampleRequest } from "@acp/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createHandler } from "../src/handler.js";
import { createLinks } from "../src/links.js";
import { createQuestions } from "../src/questions.js";
import { replaySet } from "../src/replay-set.js";
import { readSecrets } from "../src/secret.js";
import { SECRET, signed } from "./receiver.js";

const clock = manualClock();
const ORIGIN = "https://gate.example";

function makeHandler() {
  const questions = createQuestions();
  const ask = askDouble(sampleRequest({ id: "cr_1", nonce: "n_1", createdAtMs: clock.now() }));
  questions.put(ask);
  const links = createLinks(`${ORIGIN}/`);
  const link = links.mint(ask, ["alice"])["alice"] ?? "";
  const handler = createHandler({
    keys: readSecrets(SECRET),
    claims: replaySet(clock),
    questions,
    approvers: new Set(["alice"]),
    now: () => clock.now(),
    links: { links, origin: ORIGIN, clock },
    isClosed: () => false,
  });
  return { handler, ask, link };
}

const good = JSON.stringify(
  makeResponse(
    { id: "cr_1", nonce: "n_1" },
    { decision: "approved", nowMs: clock.now(), channel: "webhook", approverId: "alice" },
  ),
);

/** A good answer with something done to it. */
const bent = fc.oneof(
  fc
    .tuple(fc.nat(good.length - 1), fc.string({ maxLength: 3 }))
    .map(([at, text]) => good.slice(0, at) + text + good.slice(at + 1)),
  fc.nat(good.length - 1).map((at) => good.slice(0, at)),
  fc
    .tuple(
      fc.constantFrom(
        "decision",
        "approver",
        "nonce",
        "request_id",
        "type",
        "version",
        "modifications",
        "conditions",
        "approved",
      ),
      fc.jsonValue(),
    )
    .map(([key, value]) => JSON.stringify({ ...(JSON.parse(good) as object), [key]: value })),
  fc.json(),
  fc.string({ unit: "binary" }),
);

const isKnown = (status: number): boolean =>
  [200, 400, 401, 403, 404, 405, 409, 410, 413, 415, 429, 500, 503].includes(status);

describe("handler, fuzzed", () => {
  it("a signed body decides only where it says approved or denied for this question, as alice", async () => {
    await fc.assert(
      fc.asyncProperty(bent, async (body) => {
        const { handler, ask } = makeHandler();
        const response = await handler(
          new Request(`${ORIGIN}/callback`, {
            method: "POST",
            ...signed(body, { nowMs: clock.now() }),
          }),
        );
        expect(isKnown(response.status)).toBe(true);
        expect(response.status).not.toBe(500);
        if (ask.ending() === undefined) return;
        const {
          decision,
          approver,
          nonce,
          request_id: id,
        } = JSON.parse(body) as Readonly<Record<string, unknown>>;
        expect([decision, approver, nonce, id]).toEqual([
          ask.ending()?.status,
          { id: "alice", channel: "webhook" },
          "n_1",
          "cr_1",
        ]);
      }),
      { examples: [[good], [good.replace('"approved"', '"denied"')]] },
    );
  });

  it("an unsigned request decides nothing, whatever its method, path, headers and body", async () => {
    const headers = fc.dictionary(
      fc.constantFrom(
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
        "content-type",
        "content-length",
        "origin",
        "sec-fetch-site",
        "cookie",
      ),
      fc.oneof(
        fc.stringMatching(/^[ -~]{0,80}$/),
        fc.constantFrom(String(clock.now() / 1000), "msg_1", `v1,${"A".repeat(43)}=`),
      ),
    );
    const methods = fc.constantFrom(
      "GET",
      "HEAD",
      "POST",
      "PUT",
      "DELETE",
      "PATCH",
      "OPTIONS",
      "PROPFIND",
    );
    const paths = fc.oneof(
      fc.webPath(),
      fc.constant(""),
      fc.stringMatching(/^[A-Za-z0-9_-]{43}$/).map((token) => `/q_${token}`),
    );
    await fc.assert(
      fc.asyncProperty(methods, paths, headers, bent, async (method, path, given, body) => {
        const { handler, ask } = makeHandler();
        const withBody = method === "GET" || method === "HEAD" ? {} : { body };
        const response = await handler(
          new Request(ORIGIN + path, { method, headers: given, ...withBody }),
        );
        expect(isKnown(response.status)).toBe(true);
        expect(ask.submissions).toEqual([]);
      }),
    );
  });

  it("a link without its page's key decides nothing, whatever the form holds", async () => {
    const field = fc.tuple(
      fc.constantFrom(
        "key",
        "decision",
        "reason",
        "grant",
        "confirmation",
        "approved",
        "__proto__",
      ),
      fc.oneof(fc.string(), fc.constantFrom("approved", "denied", "approve")),
    );
    const types = fc.constantFrom(
      "application/x-www-form-urlencoded",
      "application/x-www-form-urlencoded;charset=utf-8",
      "text/plain",
      "multipart/form-data; boundary=x",
      "",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(field, { maxLength: 8 }),
        types,
        fc.option(fc.string()),
        async (fields, type, rest) => {
          const { handler, ask, link } = makeHandler();
          const body =
            new URLSearchParams(
              fields.map(([name, value]): [string, string] => [name, value]),
            ).toString() + (rest ?? "");
          const response = await handler(
            new Request(link, { method: "POST", body, headers: { "content-type": type } }),
          );
          expect([400, 403]).toContain(response.status);
          expect(ask.submissions).toEqual([]);
        },
      ),
    );
  });

  it("a page holds what the agent wrote as text, whatever that is", async () => {
    const evil = fc.array(
      fc.constantFrom(
        "<",
        ">",
        "&",
        '"',
        "'",
        "</pre>",
        "<script>",
        "\u202e",
        "\u200b",
        "\n",
        "\u0000",
        "%3C",
        "&#60;",
        "a",
      ),
      { maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(evil, async (parts) => {
        const questions = createQuestions();
        const links = createLinks(`${ORIGIN}/`);
        const ask = askDouble(sampleRequest({ text: parts.join("") }));
        const link = links.mint(ask, ["alice"])["alice"] ?? "";
        const handler = createHandler({
          keys: readSecrets(SECRET),
          claims: replaySet(clock),
          questions,
          approvers: undefined,
          now: () => clock.now(),
          links: { links, origin: ORIGIN, clock },
          isClosed: () => false,
        });
        const html = await (await handler(new Request(link))).text();
        const inside = /<pre>([\s\S]*?)<\/pre>/.exec(html)?.[1] ?? "<";
        expect(inside).not.toMatch(/[<>"'\u202e\u200b\u0000]/);
        expect(html.match(/<script|<\/pre>/g)).toEqual(["</pre>"]);
      }),
    );
  });
});
