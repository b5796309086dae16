import { type AnswerReceipt, parseResponse } from "@acp/core";
import { type AskDouble, askDouble, manualClock, sampleRequest } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { handleLink } from "./link-handler.js";
import { type OpenLink, createLinks } from "./links.js";

const ORIGIN = "https://gate.example";
const BASE = `${ORIGIN}/acp/`;

function makeLink(overrides: Parameters<typeof sampleRequest>[0] = {}) {
  const ask = askDouble(sampleRequest(overrides));
  const links = createLinks(BASE);
  const token = (links.mint(ask, ["alice"])["alice"] ?? "").slice(BASE.length);
  const parts = { links, origin: ORIGIN, clock: manualClock() };
  const link = links.find(token);
  const formKey = link?.state === "open" ? link.formKey : "";
  const visit = (init: RequestInit = {}): Promise<Response> =>
    handleLink(parts, token, new Request(BASE + token, init));
  const post = (
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> =>
    visit({ method: "POST", body: new URLSearchParams({ key: formKey, ...fields }), headers });
  return { ask, links, link, token, visit, post, formKey };
}

const claimOf = (ask: AskDouble): unknown => ask.submissions.at(-1)?.claim;

describe("handleLink(): what never decides", () => {
  it.each(["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH"])("%s", async (method) => {
    const { ask, visit, formKey } = makeLink();
    const query = `?decision=approved&key=${formKey}`;
    await visit({ method });
    await handleLinkWithQuery(method, query);
    expect(ask.submissions).toEqual([]);
  });

  async function handleLinkWithQuery(method: string, query: string): Promise<void> {
    const { ask, links, token } = makeLink();
    await handleLink(
      { links, origin: ORIGIN, clock: manualClock() },
      token,
      new Request(BASE + token + query, { method }),
    );
    expect(ask.submissions).toEqual([]);
  }

  it("a link opened a hundred times by whoever follows links, which stays good", async () => {
    const { ask, visit, post } = makeLink();
    for (let at = 0; at < 100; at++) expect((await visit()).status).toBe(200);
    expect(ask.submissions).toEqual([]);
    expect((await post({ decision: "approved" })).status).toBe(200);
  });

  type Fields = Readonly<Record<string, string>>;
  const forms: readonly (readonly [
    name: string,
    status: number,
    fields: Fields,
    headers?: Fields,
  ])[] = [
    ["a form without the page's key", 403, { decision: "approved", key: "" }],
    ["a form with another page's key", 403, { decision: "approved", key: "A".repeat(43) }],
    ["a form from another site", 403, { decision: "approved" }, { origin: "https://evil.example" }],
    ["a form from nowhere", 403, { decision: "approved" }, { origin: "null" }],
    [
      "a form of which the browser says that it crossed sites",
      403,
      { decision: "approved" },
      { "sec-fetch-site": "cross-site" },
    ],
    ["a form of a sister site", 403, { decision: "approved" }, { "sec-fetch-site": "same-site" }],
    ["no decision", 400, {}],
    ["a decision that is yes", 400, { decision: "yes" }],
    ["an edit, which the page does not offer", 400, { decision: "approved_with_modifications" }],
    ["a field that the form does not have", 400, { decision: "approved", approved: "no" }],
    ["a reason that is too long", 400, { decision: "approved", reason: "x".repeat(1_001) }],
    ["an offer that was not made", 409, { decision: "approved", grant: "all" }],
    ["a JSON body", 400, { decision: "approved" }, { "content-type": "application/json" }],
    [
      "a form as text, as other sites may send one",
      400,
      { decision: "approved" },
      { "content-type": "text/plain" },
    ],
    ["no type at all", 400, { decision: "approved" }, { "content-type": "" }],
  ];

  it.each(forms.map((form) => [form[0], form] as const))(
    "%s",
    async (_name, [, status, fields, headers]) => {
      const { ask, post } = makeLink();
      const ask0 = ask.session.submit;
      // A gate refuses an offer that was not made; the double takes any.
      Object.assign(ask.session, {
        submit: async (claim: unknown, by: { readonly subject: string }): Promise<AnswerReceipt> =>
          parseResponse(claim).grantId === undefined
            ? ask0(claim, by)
            : { status: "refused", code: "grant_not_offered", reason: "not offered" },
      });
      const response = await post(fields, headers);
      expect(response.status).toBe(status);
      expect(await response.text()).toContain("The question is still open");
      expect(ask.ending()).toBeUndefined();
      // And the link is still good.
      expect((await post({ decision: "denied" })).status).toBe(200);
      expect(ask.ending()?.status).toBe("denied");
    },
  );

  it("a decision that is there twice", async () => {
    const { ask, visit, formKey } = makeLink();
    const body = `key=${formKey}&decision=denied&decision=approved`;
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    expect((await visit({ method: "POST", body, headers })).status).toBe(400);
    expect(ask.submissions).toEqual([]);
  });

  it("a form that does not end", async () => {
    const { ask, post } = makeLink();
    expect((await post({ decision: "approved", reason: "x".repeat(20_000) })).status).toBe(400);
    expect(ask.submissions).toEqual([]);
  });
});

describe("handleLink(): a form filled in on its page", () => {
  it.each(["approved", "denied"] as const)("is an answer: %s", async (decision) => {
    const { ask, post } = makeLink();
    const response = await post(
      { decision, reason: "because" },
      { origin: ORIGIN, "sec-fetch-site": "same-origin" },
    );
    expect(response.status).toBe(200);
    expect(ask.ending()).toEqual({ status: decision, reason: "because" });
    expect(ask.submissions.map(({ subject }) => subject)).toEqual(["alice"]);
  });

  it("carries the word that was typed, and the offer that was chosen", async () => {
    const { ask, post } = makeLink();
    await post({ decision: "approved", confirmation: "approve", grant: "o1" });
    expect(parseResponse(claimOf(ask))).toMatchObject({
      decision: "approved",
      confirmation: "approve",
      grantId: "o1",
    });
  });

  it("carries neither where it denies", async () => {
    const { ask, post } = makeLink();
    await post({ decision: "denied", confirmation: "approve", grant: "o1" });
    const answer = parseResponse(claimOf(ask));
    expect([answer.decision, answer.confirmation, answer.grantId]).toEqual([
      "denied",
      undefined,
      undefined,
    ]);
  });

  it("works once", async () => {
    const { ask, post, visit } = makeLink();
    expect((await post({ decision: "denied" })).status).toBe(200);
    expect((await post({ decision: "approved" })).status).toBe(410);
    expect((await visit()).status).toBe(410);
    expect(ask.submissions).toHaveLength(1);
  });

  it("of two at once one is judged", async () => {
    const { ask, post } = makeLink();
    const statuses = (
      await Promise.all([post({ decision: "approved" }), post({ decision: "denied" })])
    ).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(ask.submissions).toHaveLength(1);
  });

  it("does nothing where the question is over, and says so", async () => {
    const { ask, links, post, link } = makeLink();
    ask.end({ status: "expired", reason: "nobody answered" });
    // The end is known to the gate before it is known to the channel.
    const early = await post({ decision: "approved" });
    expect([early.status, await early.text()]).toEqual([
      410,
      expect.stringContaining("came too late and did nothing"),
    ]);
    links.end((link as OpenLink).question, "expired");
    const late = await post({ decision: "approved" });
    expect([late.status, await late.text()]).toEqual([
      410,
      expect.stringContaining("Nobody answered in time"),
    ]);
  });

  it("leaves the link good where judging it fails", async () => {
    const { ask, post } = makeLink();
    const submit = ask.session.submit;
    Object.assign(ask.session, { submit: () => Promise.reject(new Error("broken")) });
    await expect(post({ decision: "approved" })).rejects.toThrow("broken");
    Object.assign(ask.session, { submit });
    expect((await post({ decision: "approved" })).status).toBe(200);
  });
});

describe("handleLink(): a token that nobody has", () => {
  it.each(["GET", "POST"])("%s leads nowhere", async (method) => {
    const { links } = makeLink();
    const url = `${BASE}q_${"A".repeat(43)}`;
    const response = await handleLink(
      { links, origin: ORIGIN, clock: manualClock() },
      `q_${"A".repeat(43)}`,
      new Request(url, { method }),
    );
    expect(response.status).toBe(404);
  });
});
