import { askDouble } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { type OpenLink, createLinks, isLinkToken } from "./links.js";

const BASE = "https://gate.example/acp/";
const tokenOf = (url: string | undefined): string => url?.slice(BASE.length) ?? "";

function openLink(links: ReturnType<typeof createLinks>, token: string): OpenLink {
  const link = links.find(token);
  if (link?.state !== "open") throw new Error("the link is not open");
  return link;
}

describe("createLinks()", () => {
  it("makes a link of its own for every person and question, with 256 random bits", () => {
    const links = createLinks(BASE);
    const [one, two] = [askDouble(), askDouble()];
    const made = [links.mint(one, ["alice", "bob"]), links.mint(two, ["alice", "bob"])].flatMap(
      (each) => Object.values(each),
    );
    expect(new Set(made).size).toBe(4);
    for (const url of made) {
      expect(url.startsWith(BASE)).toBe(true);
      expect(isLinkToken(tokenOf(url))).toBe(true);
      expect(Buffer.from(tokenOf(url).slice(2), "base64url")).toHaveLength(32);
    }
  });

  it("leads each person to their question as themselves, with another form key each", () => {
    const links = createLinks(BASE);
    const ask = askDouble();
    const { alice, bob } = links.mint(ask, ["alice", "bob"]);
    const [one, two] = [openLink(links, tokenOf(alice)), openLink(links, tokenOf(bob))];
    expect([one.subject, two.subject, one.question]).toEqual(["alice", "bob", ask]);
    expect(one.formKey).not.toBe(two.formKey);
  });

  it("works once, and for the others still", () => {
    const links = createLinks(BASE);
    const { alice, bob } = links.mint(askDouble(), ["alice", "bob"]);
    links.spend(openLink(links, tokenOf(alice)));
    expect(links.find(tokenOf(alice))).toEqual({ state: "over", how: "answered" });
    expect(links.find(tokenOf(bob))).toMatchObject({ state: "open" });
  });

  it("ends with its question, and says how", () => {
    const links = createLinks(BASE);
    const [ask, other] = [askDouble(), askDouble()];
    const { alice } = links.mint(ask, ["alice"]);
    const { alice: still } = links.mint(other, ["alice"]);
    links.end(ask, "expired");
    expect(links.find(tokenOf(alice))).toEqual({ state: "over", how: "expired" });
    expect(links.find(tokenOf(still))).toMatchObject({ state: "open" });
  });

  it("is taken by one answer at a time", () => {
    const links = createLinks(BASE);
    const link = openLink(links, tokenOf(links.mint(askDouble(), ["alice"])["alice"]));
    expect(links.take(link)).toBe(true);
    expect(links.take(link)).toBe(false);
    links.release(link);
    expect(links.take(link)).toBe(true);
  });

  it("knows no other token, and remembers a bounded number of links that are over", () => {
    const links = createLinks(BASE);
    expect(links.find(`q_${"A".repeat(43)}`)).toBeUndefined();
    const tokens: string[] = [];
    for (let at = 0; at <= 10_000; at++) {
      const ask = askDouble();
      tokens.push(tokenOf(links.mint(ask, ["alice"])["alice"]));
      links.end(ask, "denied");
    }
    expect(links.find(tokens[0] ?? "")).toBeUndefined();
    expect(links.find(tokens.at(-1) ?? "")).toMatchObject({ how: "denied" });
  });
});

describe("isLinkToken()", () => {
  it.each([
    "",
    "callback",
    "q_",
    `q_${"A".repeat(42)}`,
    `q_${"A".repeat(44)}`,
    `Q_${"A".repeat(43)}`,
    `q_${"%".repeat(43)}`,
  ])("no: %s", (text) => {
    expect(isLinkToken(text)).toBe(false);
  });
});
