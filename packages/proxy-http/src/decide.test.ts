import {
  type AuditEventInput,
  createConsentGate,
  DENY_CODES,
  type GateOptions,
  hostScope,
  type HttpAction,
  httpAction,
  isHttpAction,
  type Layer,
  offerHost,
  type Release,
} from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { createVault, Secret } from "@acp/core/vault";
import { manualClock, type ManualClock, type Script, type ScriptedChannel, scriptedChannel, seededIds } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { actionOf, createDecide, type DecideOptions } from "./decide.js";
import { hostApprovalTtlMs } from "./host-approval.js";
import type { Asking, Caller } from "./parts.js";
import { type Refusal, refused, refusalBody } from "./refusals.js";

const caller: Caller = { agent: { id: "demo" } };
const ask = parsePolicy({ version: "1", default: "ask" });
const allow = parsePolicy({ version: "1", default: "allow" });
const HOST: Script = () => ({ approve: { offer: "host" } });

interface Kit {
  readonly clock: ManualClock;
  readonly channel: ScriptedChannel;
  readonly events: AuditEventInput[];
  readonly released: Release[];
  readonly lines: string[];
  readonly gate: DecideOptions["gate"];
  /** `undefined` where it was performed. */
  readonly decide: (what: string | HttpAction, more?: Partial<Asking>) => Promise<Refusal | undefined>;
}

function kit(script: Script, options: Partial<GateOptions> = {}): Kit {
  const clock = manualClock();
  const events: AuditEventInput[] = [];
  const released: Release[] = [];
  const lines: string[] = [];
  const channel = scriptedChannel(script, { clock });
  const audit = {
    append: (list: readonly AuditEventInput[]) => {
      events.push(...list);
      return Promise.resolve({ seq: events.length - 1, hash: "sha256:0" });
    },
  };
  const gate = createConsentGate({ policy: ask, channel, audit, clock, ids: seededIds(), ...options });
  const decide = createDecide({ gate, log: (line) => lines.push(line) });
  return {
    clock,
    channel,
    events,
    released,
    lines,
    gate,
    decide: (what, more = {}) => {
      const action = typeof what === "string" ? actionOf({ method: "GET", target: what, rawHeaders: [] }) : what;
      return decide({ action, caller, signal: new AbortController().signal, ...more }, (release) => {
        released.push(release);
        return Promise.resolve();
      });
    },
  };
}

describe("actionOf()", () => {
  it("makes the Action of a request, with the headers that hold a placeholder", () => {
    const action = actionOf({
      method: "post",
      target: "http://API.example:80/x#y",
      rawHeaders: ["Accept", "*/*", "X-Key", "{{secret:TOKEN}}"],
    });
    expect(action).toMatchObject({
      name: "POST",
      args: { headers: { "x-key": "{{secret:TOKEN}}" } },
      meta: { kind: "http", host: "api.example", port: 80, method: "POST", url: "http://api.example/x" },
    });
    expect(actionOf({ method: "CONNECT", target: "API.example:443", rawHeaders: [] }).meta).toEqual({
      kind: "http",
      host: "api.example",
      port: 443,
      method: "CONNECT",
    });
  });

  it.each([
    ["GET", "http://user:secret@api.example/"],
    ["GET", "http://[fe80::1%25eth0]/"],
    ["GET", "http://api.example\u0000.evil/"],
    ["GET", "/relative"],
    ["GET", "ftp://api.example/"],
    ["CONNECT", "api.example"],
    ["CONNECT", "http://api.example/"],
    ["G T", "http://api.example/"],
  ])("refuses %s %j", (method, target) => {
    expect(() => actionOf({ method, target, rawHeaders: [] })).toThrow(
      expect.objectContaining({ refusal: expect.objectContaining({ code: "request_invalid", status: 400 }) as unknown }),
    );
    expect(() => actionOf({ method, target, rawHeaders: [] })).not.toThrow("secret");
  });

  it("refuses a placeholder in a tunnel's own head: no secret reaches its inside", () => {
    const head = { method: "connect", target: "api.example:443", rawHeaders: ["x-key", "{{secret:TOKEN}}"] };
    expect(() => actionOf(head)).toThrow("a tunnel hides its headers");
  });
});

describe("createDecide()", () => {
  it("performs what a rule allows, with the release", async () => {
    const { decide, released, channel } = kit([], { policy: allow });
    expect(await decide("http://api.example/")).toBeUndefined();
    expect(released.map(({ action }) => action.meta)).toEqual([httpAction("GET", "http://api.example/").meta]);
    expect(channel.asked).toEqual([]);
  });

  it("performs after a person's yes and refuses after their no, with what the agent can do", async () => {
    const { decide, released } = kit(["approve", { deny: { reason: "not this one" } }]);
    expect(await decide("http://api.example/1")).toBeUndefined();
    const refusal = await decide("http://api.example/2");
    expect(refusal).toMatchObject({ status: 403, code: "consent_denied", remedy: DENY_CODES.consent_denied.remedy, retryable: false });
    expect(JSON.parse(refusal === undefined ? "" : refusalBody(refusal))).toMatchObject({
      error: { requestId: expect.stringMatching(/^cr_/) as unknown },
    });
    expect(released).toHaveLength(1);
  });

  it("refuses what a rule denies, with the rule's reason and id", async () => {
    const policy = parsePolicy({
      version: "1",
      default: "allow",
      rules: [{ id: "no-evil", match: { host: "evil.example" }, action: "deny", reason: "it is evil" }],
    });
    expect(await kit([], { policy }).decide("http://evil.example/")).toMatchObject({
      status: 403,
      code: "policy_denied",
      ruleId: "no-evil",
      reason: expect.stringContaining("it is evil") as unknown,
    });
  });

  it("holds until the gate's deadline, then refuses", async () => {
    const { decide, clock, released } = kit(["ignore"], { askTimeoutMs: 5_000 });
    let outcome: Refusal | undefined;
    const done = decide("http://api.example/").then((refusal) => void (outcome = refusal));
    await clock.advance(4_999);
    expect(outcome).toBeUndefined();
    await clock.advance(1);
    await done;
    expect(outcome).toMatchObject({ status: 403, code: "consent_expired", retryable: true });
    expect(released).toEqual([]);
  });

  it("takes the question back when the agent is gone", async () => {
    const agentGone = new AbortController();
    const { decide, clock, channel, released } = kit(["ignore"]);
    const done = decide("http://api.example/", { signal: agentGone.signal });
    await clock.advance(0);
    agentGone.abort(new Error("gone"));
    expect(await done).toMatchObject({ code: "consent_cancelled" });
    await clock.advance(0);
    expect([...channel.endings.values()].map(({ status }) => status)).toEqual(["cancelled"]);
    expect(released).toEqual([]);
  });

  it("hands the agent's signal to what is performed", async () => {
    const agentGone = new AbortController();
    const { decide, released } = kit([], { policy: allow });
    await decide("http://api.example/", { signal: agentGone.signal });
    expect(released[0]?.signal.aborted).toBe(false);
    agentGone.abort(new Error("gone"));
    expect(released[0]?.signal.aborted).toBe(true);
  });

  it.each<[string, Partial<GateOptions>, Script, string]>([
    [
      "no policy",
      {
        policy: () => {
          throw new Error("Cannot read /home/operator/policy.yml");
        },
      },
      [],
      "policy_failed",
    ],
    [
      "a layer that throws",
      {
        layers: [
          {
            name: "broken",
            judge: () => {
              throw new Error("/home/operator");
            },
          },
        ],
      },
      [],
      "layer_failed",
    ],
    [
      "a log that is full",
      { audit: { append: () => Promise.reject(new Error("ENOSPC /home/operator/audit.jsonl")) } },
      ["approve"],
      "audit_failed",
    ],
    ["a channel that fails", {}, ["throw"], "channel_failed"],
    ["nobody to ask", { approvers: [] }, ["approve"], "no_approver"],
    ["a pause", { paused: () => "the operator is away" }, ["approve"], "paused"],
  ])("refuses with %s, and says no more than the agent may know", async (_name, options, script, code) => {
    const { decide, released } = kit(script, options);
    const refusal = await decide("http://api.example/");
    expect(refusal).toMatchObject({ status: 403, code, remedy: DENY_CODES[code as keyof typeof DENY_CODES].remedy });
    expect(JSON.stringify(refusal)).not.toContain("/home");
    expect(released).toEqual([]);
  });

  it("refuses where the gate itself rejects, and tells only the log why", async () => {
    const { gate } = kit([]);
    const lines: string[] = [];
    const broken = Object.assign(
      (): never => {
        throw new Error("unused");
      },
      { ...gate, run: () => Promise.reject(new Error("/home/operator")) },
    );
    const decide = createDecide({ gate: broken, log: (line) => lines.push(line) });
    const asking = { action: httpAction("GET", "http://api.example/"), caller, signal: new AbortController().signal };
    expect(await decide(asking, () => Promise.resolve())).toMatchObject({ code: "internal_error", reason: "the gate failed" });
    expect(lines).toEqual(["the gate failed: /home/operator"]);
  });

  it("rejects with what performing throws, refusals included", async () => {
    const { gate, events } = kit([], { policy: allow, vault: createVault([new Secret({ name: "TOKEN", value: "hunter2-hunter2" })]) });
    const decide = createDecide({ gate });
    const asking = { action: httpAction("GET", "http://api.example/"), caller, signal: new AbortController().signal };
    const thrown = refused("upstream_timeout", "too slow");
    await expect(decide(asking, () => Promise.reject(thrown))).rejects.toBe(thrown);
    expect(thrown.refusal).toMatchObject({ code: "upstream_timeout", status: 504 });
    expect(events.at(-1)).toMatchObject({ eventType: "tool_call_completed", metadata: { outcome: "failed" } });
  });

  it("says in the log of the proxy that the audit log lost the end of a request", async () => {
    let appended = 0;
    const audit = { append: () => (appended++ < 2 ? Promise.resolve({ seq: 0, hash: "sha256:0" }) : Promise.reject(new Error("full"))) };
    const { decide, lines } = kit([], { policy: allow, audit });
    expect(await decide("http://api.example/")).toBeUndefined();
    expect(lines).toEqual(["the audit log could not keep that a request is completed"]);
  });
});

describe("a person's yes to a host", () => {
  const ttl = (text?: string): Partial<GateOptions> => ({ defaultOffers: offerHost(hostApprovalTtlMs(text)) });

  it("is said in the question", async () => {
    const { decide, channel } = kit(HOST, ttl());
    await decide("http://shop.example:8080/cart");
    expect(channel.asked[0]?.text).toContain("[host] every request to shop.example or www.shop.example port 8080 for 3 min");
    expect(hostScope(httpAction("GET", "http://shop.example:8080/cart"))).toMatchObject({ twin: "www.shop.example" });
  });

  it("answers for the host and its www twin on that port for 180 s, each use in the log", async () => {
    const { decide, channel, clock, events, released } = kit(HOST, ttl());
    const uses = (): number => events.filter(({ eventType }) => eventType === "grant_used").length;
    await decide("http://shop.example/1");
    expect([channel.asked.length, uses()]).toEqual([1, 0]);
    await decide("http://shop.example/2");
    await decide("http://www.shop.example/3");
    await decide(httpAction("POST", "http://shop.example/4"));
    await decide(httpAction("CONNECT", "shop.example:80"));
    expect([channel.asked.length, uses(), released.length]).toEqual([1, 4, 5]);
    await decide("http://shop.example:8080/");
    expect(channel.asked).toHaveLength(2);
    await decide("https://shop.example/");
    expect(channel.asked).toHaveLength(3);
    await decide("http://sub.shop.example/");
    expect(channel.asked).toHaveLength(4);
    await decide("http://shop.example/5", { caller: { agent: { id: "another" } } });
    expect(channel.asked).toHaveLength(5);
    await clock.advance(179_999);
    await decide("http://www.shop.example/6");
    expect([channel.asked.length, uses()]).toEqual([5, 5]);
    await clock.advance(1);
    await decide("http://shop.example/7");
    expect([channel.asked.length, uses()]).toEqual([6, 5]);
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
    expect(wanting.channel.receipts).toMatchObject([{ status: "refused", code: "grant_not_offered" }]);
  });

  it("lifts no deny, and no limit on where it was said", async () => {
    const policy = parsePolicy({
      version: "1",
      default: "ask",
      rules: [{ match: { host: "shop.example", method: "DELETE" }, action: "deny" }],
    });
    const { decide } = kit(HOST, { ...ttl(), policy });
    await decide("http://shop.example/");
    expect(await decide(httpAction("DELETE", "http://shop.example/"))).toMatchObject({ code: "policy_denied" });
  });
});

describe("agents", () => {
  const denyBob: Layer = {
    name: "per-agent",
    judge: (_action, { agent }) => (agent.id === "bob" ? { effect: "deny", ruleId: "no-bob", reason: "bob may not" } : undefined),
  };

  it("are judged by who they are, and stand in the log under their names", async () => {
    const { decide, events } = kit([], { policy: allow, layers: [denyBob] });
    expect(await decide("http://api.example/", { caller: { agent: { id: "alice" } } })).toBeUndefined();
    expect(await decide("http://api.example/", { caller: { agent: { id: "bob" } } })).toMatchObject({ ruleId: "no-bob" });
    expect(new Set(events.map(({ agent }) => agent))).toEqual(new Set(["alice", "bob"]));
  });

  it("have their own policies by gates of their own", async () => {
    const strict = kit([], { policy: parsePolicy({ version: "1", default: "deny" }) });
    const { decide, released } = kit([], { policy: allow });
    expect(await decide("http://api.example/", { caller: { agent: { id: "alice" } } })).toBeUndefined();
    expect(await decide("http://api.example/", { caller: { agent: { id: "bob" }, gate: strict.gate } })).toMatchObject({
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
    const part = (id: string): Partial<Asking> => ({ caller: { agent: { id: `demo/${id}`, parents: ["demo"] } } });
    expect(await decide("http://api.example/")).toBeUndefined();
    expect(await decide("http://api.example/", part("a"))).toBeUndefined();
    expect(await decide("http://api.example/", part("b"))).toMatchObject({ code: "rate_limited", retryAfterMs: 3_600_000 });
  });
});

describe("secrets", () => {
  const VALUE = "hunter2-hunter2";
  const vault = createVault([new Secret({ name: "TOKEN", value: VALUE, hosts: ["api.example:80"] })]);
  const withKey = (target: string, name = "TOKEN"): HttpAction =>
    actionOf({ method: "GET", target, rawHeaders: ["Authorization", `Bearer {{secret:${name}}}`] });

  it("enter the header that was shown, after consent, and no event", async () => {
    const { decide, released, channel, events } = kit(["approve"], { vault });
    expect(await decide(withKey("http://api.example/"))).toBeUndefined();
    expect(channel.asked[0]?.text).toContain("{{secret:TOKEN}}");
    const [release] = released;
    expect(release !== undefined && isHttpAction(release.action) ? release.action.args : undefined).toEqual({
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
    expect(refusal).toMatchObject({ status: 403, code: "vault_failed", reason: DENY_CODES.vault_failed.meaning.slice(0, -1) });
    expect(released).toEqual([]);
  });

  it("need consent: a host's earlier yes without them is none", async () => {
    const { decide, channel } = kit(HOST, { vault, defaultOffers: offerHost(180_000) });
    await decide("http://api.example/");
    await decide(withKey("http://api.example/"));
    expect(channel.asked).toHaveLength(2);
  });
});
