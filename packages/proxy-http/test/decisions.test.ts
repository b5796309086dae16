/**
 * Decisions over a real gate: what a person's yes to a host covers, agents with policies of their
 * own, secrets after consent.
 */
import {
  DENY_CODES,
  type GateOptions,
  type HttpAction,
  httpAction,
  isHttpAction,
  type Layer,
  offerHost,
} from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { createVault, Secret } from "@acp/core/vault";
import { describe, expect, it } from "vitest";
import { actionOf } from "../src/decide.js";
import { hostApprovalTtlMs } from "../src/host-approval.js";
import type { Asking } from "../src/decide.js";
import { allow, HOST, kit } from "./support/decide-kit.js";

describe("a person's yes to a host", () => {
  const ttl = (text?: string): Partial<GateOptions> => ({
    defaultOffers: offerHost(hostApprovalTtlMs(text)),
  });

  it("is said in the question", async () => {
    const { decide, channel } = kit(HOST, ttl());
    await decide("http://shop.example:8080/cart");
    expect(channel.asked[0]?.text).toContain(
      "[host] every GET and HEAD request to shop.example port 8080 for 3 min",
    );
  });

  it("answers for what reads from the host on that port for 180 s, each use in the log", async () => {
    const { decide, channel, clock, events, released } = kit(HOST, ttl());
    const uses = (): number => events.filter(({ eventType }) => eventType === "grant_used").length;
    await decide("http://shop.example/1");
    expect([channel.asked.length, uses()]).toEqual([1, 0]);
    await decide("http://shop.example/2");
    await decide(httpAction("HEAD", "http://shop.example/3"));
    expect([channel.asked.length, uses(), released.length]).toEqual([1, 2, 3]);
    await decide("http://shop.example:8080/");
    expect(channel.asked).toHaveLength(2);
    await decide("https://shop.example/");
    expect(channel.asked).toHaveLength(3);
    await decide("http://sub.shop.example/");
    expect(channel.asked).toHaveLength(4);
    await decide("http://shop.example/5", { caller: { agent: { id: "another" } } });
    expect(channel.asked).toHaveLength(5);
    await clock.advance(179_999);
    await decide("http://shop.example/6");
    expect([channel.asked.length, uses()]).toEqual([5, 3]);
    await clock.advance(1);
    await decide("http://shop.example/7");
    expect([channel.asked.length, uses()]).toEqual([6, 3]);
  });

  it.each([
    ["the www. twin", httpAction("GET", "http://www.shop.example/3")],
    ["a POST", httpAction("POST", "http://shop.example/4")],
    ["a tunnel", httpAction("CONNECT", "shop.example:80")],
  ])("to a GET does not cover %s", async (_, other) => {
    const { decide, channel } = kit(HOST, ttl());
    await decide("http://shop.example/1");
    await decide(other);
    expect(channel.asked).toHaveLength(2);
  });

  it("covers no more than the call where the person says no more", async () => {
    const { decide, channel } = kit(() => "approve", ttl());
    await decide("http://shop.example/1");
    await decide("http://shop.example/1");
    expect(channel.asked).toHaveLength(2);
  });

  it("is not offered where the time is 0: every request is asked about", async () => {
    const { decide, channel, released } = kit(() => "approve", ttl("0"));
    for (let count = 0; count < 3; count++) await decide("http://shop.example/");
    expect([channel.asked.length, released.length]).toEqual([3, 3]);
    expect(channel.asked[0]?.text).not.toContain("[host]");
    const wanting = kit(HOST, ttl("0"));
    const refusing = wanting.decide("http://shop.example/");
    await wanting.clock.advance(120_000);
    expect(await refusing).toMatchObject({ code: "consent_expired" });
    expect(wanting.channel.receipts).toMatchObject([
      { status: "refused", code: "grant_not_offered" },
    ]);
  });

  it("lifts no deny, and no limit on where it was said", async () => {
    const policy = parsePolicy({
      version: "1",
      default: "ask",
      rules: [{ match: { host: "shop.example", method: "DELETE" }, action: "deny" }],
    });
    const { decide } = kit(HOST, { ...ttl(), policy });
    await decide("http://shop.example/");
    expect(await decide(httpAction("DELETE", "http://shop.example/"))).toMatchObject({
      code: "policy_denied",
    });
  });
});

describe("agents", () => {
  const denyBob: Layer = {
    name: "per-agent",
    judge: (_action, { agent }) =>
      agent.id === "bob" ? { effect: "deny", ruleId: "no-bob", reason: "bob may not" } : undefined,
  };

  it("are judged by who they are, and stand in the log under their names", async () => {
    const { decide, events } = kit([], { policy: allow, layers: [denyBob] });
    expect(
      await decide("http://api.example/", { caller: { agent: { id: "alice" } } }),
    ).toBeUndefined();
    expect(await decide("http://api.example/", { caller: { agent: { id: "bob" } } })).toMatchObject(
      { ruleId: "no-bob" },
    );
    expect(new Set(events.map(({ agent }) => agent))).toEqual(new Set(["alice", "bob"]));
  });

  it("have their own policies by gates of their own", async () => {
    const strict = kit([], { policy: parsePolicy({ version: "1", default: "deny" }) });
    const { decide, released } = kit([], { policy: allow });
    expect(
      await decide("http://api.example/", { caller: { agent: { id: "alice" } } }),
    ).toBeUndefined();
    expect(
      await decide("http://api.example/", { caller: { agent: { id: "bob" }, gate: strict.gate } }),
    ).toMatchObject({
      code: "policy_denied",
    });
    expect(released).toHaveLength(1);
    expect(strict.events.every(({ agent }) => agent === "bob")).toBe(true);
  });

  it("share one rate with their parts, whatever those are called", async () => {
    const policy = parsePolicy({
      version: "1",
      default: "deny",
      rules: [{ match: { kind: "http" }, action: "allow", rate_limit: "2/hour" }],
    });
    const { decide } = kit([], { policy });
    const part = (id: string): Partial<Asking> => ({
      caller: { agent: { id: `demo/${id}`, parents: ["demo"] } },
    });
    expect(await decide("http://api.example/")).toBeUndefined();
    expect(await decide("http://api.example/", part("a"))).toBeUndefined();
    expect(await decide("http://api.example/", part("b"))).toMatchObject({
      code: "rate_limited",
      retryAfterMs: 3_600_000,
    });
  });
});

describe("secrets", () => {
  const VALUE = "hunter2-hunter2";
  const vault = createVault([
    new Secret({ name: "TOKEN", value: VALUE, hosts: ["api.example:80"] }),
  ]);
  const withKey = (target: string, name = "TOKEN"): HttpAction =>
    actionOf({ method: "GET", target, rawHeaders: ["Authorization", `Bearer {{secret:${name}}}`] });

  it("enter the header that was shown, after consent, and no event", async () => {
    const { decide, released, channel, events } = kit(["approve"], { vault });
    expect(await decide(withKey("http://api.example/"))).toBeUndefined();
    expect(channel.asked[0]?.text).toContain("{{secret:TOKEN}}");
    const [release] = released;
    expect(
      release !== undefined && isHttpAction(release.action) ? release.action.args : undefined,
    ).toEqual({
      headers: { authorization: `Bearer ${VALUE}` },
    });
    expect(JSON.stringify([events, channel.asked])).not.toContain(VALUE);
    expect(events.map(({ eventType }) => eventType)).toContain("credential_injected");
  });

  it.each([
    ["another host", withKey("http://other.example/")],
    ["another port", withKey("http://api.example:8080/")],
    ["an unknown name", withKey("http://api.example/", "OTHER")],
  ])("do not go to %s, and the answer does not say why", async (_name, action) => {
    const { decide, released } = kit(["approve"], { vault });
    const refusal = await decide(action);
    expect(refusal).toMatchObject({
      status: 403,
      code: "vault_failed",
      reason: DENY_CODES.vault_failed.meaning.slice(0, -1),
    });
    expect(released).toEqual([]);
  });

  it("need consent: a host's earlier yes without them is none", async () => {
    const { decide, channel } = kit(HOST, { vault, defaultOffers: offerHost(180_000) });
    await decide("http://api.example/");
    await decide(withKey("http://api.example/"));
    expect(channel.asked).toHaveLength(2);
  });
});
