import { ConsentError, DENY_CODES, type GateOptions, httpAction } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { createVault, Secret } from "@acp/core/vault";
import type { Script } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { allow, caller, kit } from "../test/support/decide-kit.js";
import { actionOf, createDecide } from "./decide.js";
import type { DecideOptions } from "./decide.js";
import { type Refusal, refused, refusalBody } from "./refusals.js";

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
      meta: {
        kind: "http",
        host: "api.example",
        port: 80,
        method: "POST",
        url: "http://api.example/x",
      },
    });
    expect(actionOf({ method: "CONNECT", target: "API.example:443", rawHeaders: [] }).meta).toEqual(
      {
        kind: "http",
        host: "api.example",
        port: 443,
        method: "CONNECT",
      },
    );
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
      expect.objectContaining({
        refusal: expect.objectContaining({ code: "request_invalid", status: 400 }) as unknown,
      }),
    );
    expect(() => actionOf({ method, target, rawHeaders: [] })).not.toThrow("secret");
  });

  it("refuses a placeholder in a tunnel's own head: no secret reaches its inside", () => {
    const head = {
      method: "connect",
      target: "api.example:443",
      rawHeaders: ["x-key", "{{secret:TOKEN}}"],
    };
    expect(() => actionOf(head)).toThrow("a tunnel hides its headers");
  });
});

describe("createDecide()", () => {
  it("performs what a rule allows, with the release", async () => {
    const { decide, released, channel } = kit([], { policy: allow });
    expect(await decide("http://api.example/")).toBeUndefined();
    expect(released.map(({ action }) => action.meta)).toEqual([
      httpAction("GET", "http://api.example/").meta,
    ]);
    expect(channel.asked).toEqual([]);
  });

  it("performs after a person's yes and refuses after their no, with what the agent can do", async () => {
    const { decide, released } = kit(["approve", { deny: { reason: "not this one" } }]);
    expect(await decide("http://api.example/1")).toBeUndefined();
    const refusal = await decide("http://api.example/2");
    expect(refusal).toMatchObject({
      status: 403,
      code: "consent_denied",
      remedy: DENY_CODES.consent_denied.remedy,
      retryable: false,
    });
    expect(JSON.parse(refusal === undefined ? "" : refusalBody(refusal))).toMatchObject({
      error: { requestId: expect.stringMatching(/^cr_/) as unknown },
    });
    expect(released).toHaveLength(1);
  });

  it("refuses what a rule denies, with the rule's reason and id", async () => {
    const policy = parsePolicy({
      version: "1",
      default: "allow",
      rules: [
        { id: "no-evil", match: { host: "evil.example" }, action: "deny", reason: "it is evil" },
      ],
    });
    expect(await kit([], { policy }).decide("http://evil.example/")).toMatchObject({
      status: 403,
      code: "policy_denied",
      ruleId: "no-evil",
      reason: expect.stringContaining("it is evil") as unknown,
    });
  });

  it.each(["key_locked", "index_rebuilding"] as const)(
    "says %s where the gate decides nothing yet, and nothing else that it throws",
    async (code) => {
      const action = httpAction("GET", "http://api.example/");
      const { signal } = new AbortController();
      const ask = (error: Error): Promise<Refusal | undefined> => {
        const gate: DecideOptions["gate"] = {
          async run() {
            throw error;
          },
        };
        return createDecide({ gate })({ action, caller, signal }, async () => undefined);
      };
      expect(await ask(new ConsentError(code, "run: acp unlock"))).toMatchObject({
        status: 503,
        code,
        reason: "run: acp unlock",
        retryable: true,
      });
      expect(await ask(new ConsentError("home_invalid", "/home/me"))).toMatchObject({
        code: "internal_error",
        reason: "the gate failed",
      });
    },
  );

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

  it("takes the question back when the agent is gone and does not ask again", async () => {
    const agentGone = new AbortController();
    const { decide, clock, channel, released } = kit(["ignore"]);
    const done = decide("http://api.example/", { signal: agentGone.signal });
    await clock.advance(0);
    agentGone.abort(new Error("gone"));
    expect(await done).toMatchObject({ code: "consent_cancelled" });
    await clock.advance(0);
    expect([...channel.endings.values()]).toEqual([]);
    await clock.advance(60_000);
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
  ])(
    "refuses with %s, and says no more than the agent may know",
    async (_name, options, script, code) => {
      const { decide, released } = kit(script, options);
      const refusal = await decide("http://api.example/");
      expect(refusal).toMatchObject({
        status: 403,
        code,
        remedy: DENY_CODES[code as keyof typeof DENY_CODES].remedy,
      });
      expect(JSON.stringify(refusal)).not.toContain("/home");
      expect(released).toEqual([]);
    },
  );

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
    const asking = {
      action: httpAction("GET", "http://api.example/"),
      caller,
      signal: new AbortController().signal,
    };
    expect(await decide(asking, () => Promise.resolve())).toMatchObject({
      code: "internal_error",
      reason: "the gate failed",
    });
    expect(lines).toEqual(["the gate failed: /home/operator"]);
  });

  it("rejects with what performing throws, refusals included", async () => {
    const { gate, events } = kit([], {
      policy: allow,
      vault: createVault([new Secret({ name: "TOKEN", value: "hunter2-hunter2" })]),
    });
    const decide = createDecide({ gate });
    const asking = {
      action: httpAction("GET", "http://api.example/"),
      caller,
      signal: new AbortController().signal,
    };
    const thrown = refused("upstream_timeout", "too slow");
    await expect(decide(asking, () => Promise.reject(thrown))).rejects.toBe(thrown);
    expect(thrown.refusal).toMatchObject({ code: "upstream_timeout", status: 504 });
    expect(events.at(-1)).toMatchObject({
      eventType: "tool_call_completed",
      metadata: { outcome: "failed" },
    });
  });

  it("says in the log of the proxy that the audit log lost the end of a request", async () => {
    let appended = 0;
    const audit = {
      append: () =>
        appended++ < 1
          ? Promise.resolve({ seq: 0, hash: "sha256:0" })
          : Promise.reject(new Error("full")),
    };
    const { decide, lines } = kit([], { policy: allow, audit });
    expect(await decide("http://api.example/")).toBeUndefined();
    expect(lines).toEqual(["the audit log could not keep that a request is completed"]);
  });
});
