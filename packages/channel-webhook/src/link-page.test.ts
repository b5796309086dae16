import { createHash } from "node:crypto";
import { hidingCharactersIn, sampleRequest } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { noticePage, overPage, questionPage, takenPage } from "./link-page.js";

const parts = { subject: "alice", formKey: "key-of-the-form" };
const critical = { policy: { ruleId: "r", ruleName: "", requiredLevel: "critical" } } as const;

const textOf = async (overrides: Parameters<typeof sampleRequest>[0] = {}): Promise<string> =>
  questionPage({ ...parts, request: sampleRequest(overrides) }).text();

describe("questionPage()", () => {
  it("shows the whole text and who answers, and its form holds the key", async () => {
    const request = sampleRequest();
    const html = await questionPage({ ...parts, request }).text();
    expect(html).toContain(`<pre>${request.text.replaceAll('"', "&quot;")}</pre>`);
    expect(html).toContain("<strong>alice</strong>");
    expect(html).toContain('name="key" value="key-of-the-form"');
    expect(html).toContain('<form method="post"');
  });

  it("turns markup of an agent's into text", async () => {
    const evil = `</pre><script>alert(1)</script><form action="//evil"><button name='decision' value="approved">&amp;`;
    const html = await questionPage({
      subject: evil,
      formKey: evil,
      request: sampleRequest({ text: evil }),
    }).text();
    expect(html).not.toContain("<script");
    expect(html.match(/<form/g)).toHaveLength(1);
    expect(html.match(/<\/pre>/g)).toHaveLength(1);
    expect(html).toContain("&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(html).toContain("&amp;amp;");
  });

  it("shows no character that hides, reorders or forges", async () => {
    const evil = `pay \u202e001\u202c \u200b\u2066\ufeff\u{e0041} \u001b[2J\r\u0085 \u2028`;
    const html = await questionPage({
      ...parts,
      subject: evil,
      request: sampleRequest({ text: evil }),
      problem: { status: 400, text: evil },
    }).text();
    expect(hidingCharactersIn(html)).toEqual([]);
    expect(html).toContain("\\u202e001");
  });

  it("offers what the question offers, beside this call only, which is chosen", async () => {
    const offer = {
      id: 'o"1',
      scope: { kind: "tool", server: "files", name: "write_file" },
      ttlMs: 60_000,
    } as const;
    const html = await textOf({ offers: [offer] });
    expect(html).toContain('name="grant" value="" checked');
    expect(html).toContain(
      'name="grant" value="o&quot;1"> and every call of write_file on files for 1 min [o&quot;1]',
    );
    expect(await textOf()).not.toContain('name="grant"');
  });

  it("asks for the word where the question is critical, and fills nothing in", async () => {
    const html = await textOf(critical);
    expect(html).toContain("type <strong>approve</strong>");
    expect(html).toMatch(/<input type="text" name="confirmation" maxlength="64">/);
    expect(await textOf()).not.toContain("confirmation");
  });

  it("has no button that a key press would use", async () => {
    const html = await textOf(critical);
    expect(/<button[^>]*>/.exec(html)?.[0]).toBe("<button disabled hidden>");
    expect(html).not.toContain("autofocus");
  });

  it("lets a question that takes a passkey only be denied", async () => {
    const html = await textOf({ evidence: "passkey" });
    expect(html).toContain('value="denied"');
    expect(html).not.toContain('value="approved"');
  });

  it("says why an answer was not taken, with its status", async () => {
    const page = questionPage({
      ...parts,
      request: sampleRequest(),
      problem: { status: 403, text: "<b>no</b>" },
    });
    expect(page.status).toBe(403);
    expect(await page.text()).toContain("Not accepted: &lt;b&gt;no&lt;/b&gt;.");
  });
});

describe("every page", () => {
  const pages = [
    questionPage({ ...parts, request: sampleRequest() }),
    noticePage(404, "Nothing here", "text"),
    overPage("expired"),
    takenPage({ status: "final", outcome: "approved" }),
    takenPage({ status: "counted", have: 1, need: 2 }),
    takenPage({ status: "reshow", request: sampleRequest() }),
  ];

  it.each(pages.map((page, at) => [at, page] as const))(
    "%i is kept nowhere, framed nowhere and loads nothing",
    async (_at, page) => {
      const html = await page.clone().text();
      const style = /<style>([\s\S]*)<\/style>/.exec(html)?.[1] ?? "";
      const hash = createHash("sha256").update(style).digest("base64");
      expect(page.headers.get("content-security-policy")).toBe(
        `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
      );
      expect(page.headers.get("cache-control")).toBe("no-store");
      expect(page.headers.get("x-frame-options")).toBe("DENY");
      expect(page.headers.get("x-content-type-options")).toBe("nosniff");
      expect(page.headers.get("referrer-policy")).toBe("same-origin");
      expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(html).not.toMatch(
        /<script|<img|<link|<iframe|<a |src=|href=|url\(|style=| on[a-z]+=/i,
      );
    },
  );

  it("says how a question ended", async () => {
    expect(overPage("answered").status).toBe(410);
    expect(await overPage("expired").text()).toContain("Nobody answered in time.");
    expect(await takenPage({ status: "final", outcome: "denied" }).text()).toContain(
      "It was denied.",
    );
    expect(await takenPage({ status: "counted", have: 1, need: 2 }).text()).toContain(
      "1 of 2 people",
    );
  });
});
