/**
 * How questions end that no person answered: taken back, closed, kept over a restart, and what
 * silence means.
 */
import { type Layer, memoryStore, type Verdict } from "@acp/core";
import { readPolicy } from "@acp/core/yaml";
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { AGENT, codeOf, DANGEROUS, openDesk, REVIEWED, scratchDirectory } from "./desk.js";

describe("ending questions", () => {
  it("cancelPending() denies what one agent asks, and nothing of others", async () => {
    const desk = await openDesk();
    const first = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    const second = desk.hub.onApprovalNeeded("touch b.txt", AGENT);
    const other = desk.hub.onApprovalNeeded(REVIEWED, { agentId: "agent-2" });
    await desk.request(2);
    expect(await desk.hub.cancelPending("agent-1")).toBe(2);
    expect(await Promise.all([first, second])).toEqual([
      expect.objectContaining({ code: "consent_cancelled", reason: "the agent was closed" }),
      expect.objectContaining({ code: "consent_cancelled" }),
    ]);
    expect(desk.hub.openApprovals().map(({ agentId }) => agentId)).toEqual(["agent-2"]);
    const at = desk.sent.findIndex(({ agentId }) => agentId === "agent-2");
    await desk.answer("allow-once", at);
    expect((await other).decision).toBe("allow");
  });

  it("cancelPending() reaches a call whose question is not open yet", async () => {
    const desk = await openDesk();
    const verdict = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    const safe = desk.hub.onApprovalNeeded("ls", AGENT);
    expect(await desk.hub.cancelPending("agent-1")).toBe(2);
    expect([codeOf(await verdict), codeOf(await safe)]).toEqual([
      "consent_cancelled",
      "consent_cancelled",
    ]);
    expect(desk.hub.openApprovals()).toEqual([]);
  });

  it("cancelPending() is no silence: askFallback allows nothing", async () => {
    const desk = await openDesk({
      written: { askFallback: "full", dangerouslyAllowOnTimeout: true },
    });
    const verdict = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    await desk.request();
    await desk.hub.cancelPending("agent-1");
    expect(codeOf(await verdict)).toBe("consent_cancelled");
  });

  it("close() denies what is open and what comes later", async () => {
    const desk = await openDesk();
    const verdict = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    await desk.request();
    await desk.hub.close();
    expect(codeOf(await verdict)).toBe("gate_closed");
    expect(codeOf(await desk.hub.onApprovalNeeded("ls", AGENT))).toBe("gate_closed");
    expect(await desk.answer("allow-once")).toMatchObject({
      ok: false,
      error: { code: "NOT_FOUND" },
    });
  });

  it("resume() shows what a store kept, and an answer ends it", async () => {
    const store = memoryStore(manualClock());
    const project = await scratchDirectory();
    const before = await openDesk({ store, projectRoot: project });
    void before.hub.onApprovalNeeded(REVIEWED, AGENT);
    const { approvalId } = await before.request();
    const after = await openDesk({ store, projectRoot: project });
    expect(await after.hub.resume()).toBe(1);
    expect((await after.request()).approvalId).toBe(approvalId);
    expect(await after.answer("deny")).toEqual({ ok: true, payload: { ok: true } });
    expect(after.hub.openApprovals()).toEqual([]);
  });
});

describe("askFallback", () => {
  const SAFE = "ls";

  async function expired(
    written: Readonly<Record<string, unknown>>,
    command: string,
    more: Parameters<typeof openDesk>[0] = {},
  ): Promise<Verdict> {
    const desk = await openDesk({ written, ...more });
    const verdict = desk.hub.onApprovalNeeded(command, AGENT);
    const { approvalId } = await desk.request();
    await desk.clock.advance(60_000);
    const settled = await verdict;
    expect(desk.ends.get(approvalId)).toBe("expired");
    expect(desk.types()).toContain("consent_expired");
    return settled;
  }
  const full = { askFallback: "full", dangerouslyAllowOnTimeout: true };
  const listed = { allowlist: [{ pattern: "touch **" }] };

  it.each([
    ["deny by default", {}, REVIEWED, "consent_expired"],
    ["deny by default, also what is safe", { ask: "always" }, SAFE, "consent_expired"],
    ["allowlist: a miss", { askFallback: "allowlist" }, REVIEWED, "consent_expired"],
    [
      "allowlist: what is merely safe is no hit",
      { askFallback: "allowlist", ask: "always" },
      SAFE,
      "consent_expired",
    ],
    ["allowlist: a hit", { askFallback: "allowlist", ask: "always", ...listed }, REVIEWED, "allow"],
    [
      "allowlist: a hit beside a miss",
      { askFallback: "allowlist", ask: "always", ...listed },
      "touch a && mkdir b",
      "consent_expired",
    ],
    [
      "allowlist: never what is dangerous",
      { askFallback: "allowlist", allowlist: [{ pattern: "rm **" }] },
      DANGEROUS,
      "consent_expired",
    ],
    ["full: what is not dangerous", full, REVIEWED, "allow"],
    ["full: never what is dangerous", full, DANGEROUS, "consent_expired"],
  ])("askFallback %s", async (_name, written, command, want) => {
    expect(codeOf(await expired(written, command))).toBe(want);
  });

  it("askFallback leaves the operator's rules in force: what they ask is denied, what they deny too", async () => {
    const policy = readPolicy(`
version: "1"
rules:
  - { name: touch is asked, match: { kind: shell, name: touch }, action: ask }
`);
    const desk = await openDesk({ written: full, policy });
    const verdict = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    await desk.request();
    await desk.clock.advance(60_000);
    expect(await verdict).toMatchObject({ code: "consent_expired", retryable: true });
    expect(desk.types().filter((type) => type === "consent_requested").length).toBe(1);
  });

  it("askFallback leaves layers in force", async () => {
    let isOpen = true;
    const door: Layer = {
      name: "door",
      judge: () => (isOpen ? undefined : { effect: "deny", ruleId: "door", reason: "closed" }),
    };
    const desk = await openDesk({ written: full, layers: [door] });
    const verdict = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    await desk.request();
    isOpen = false;
    await desk.clock.advance(60_000);
    expect(await verdict).toMatchObject({ code: "consent_expired", reason: "closed" });
  });

  it("askFallback is for silence alone: not for a no, not for a request that could not be sent", async () => {
    const desk = await openDesk({ written: full });
    const verdict = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    await desk.answer("deny");
    expect(codeOf(await verdict)).toBe("consent_denied");
    const mute = await openDesk({
      written: full,
      send: () => Promise.reject(new Error("no client is connected")),
    });
    expect(codeOf(await mute.hub.onApprovalNeeded(REVIEWED, AGENT))).toBe("channel_failed");
  });

  it("askFallback is a decision of its own in the log, and names the option that lets silence allow", async () => {
    const desk = await openDesk({ written: full });
    const asked = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    await desk.request();
    await desk.clock.advance(60_000);
    const verdict = await asked;
    expect(verdict.reason).toMatch(
      /^nobody answered in time, and askFallback is "full" beside dangerouslyAllowOnTimeout: /,
    );
    const decided = desk.audit.events().filter(({ eventType }) => eventType === "policy_evaluated");
    expect(
      decided.map(({ decision, policyRule }) => [
        decision,
        policyRule.startsWith("exec.fallback-full"),
      ]),
    ).toEqual([
      ["ask", false],
      ["allow", true],
    ]);
    expect(String(decided[1]?.metadata["reason"])).toContain("dangerouslyAllowOnTimeout");
    expect(desk.types()).toContain("consent_expired");
  });

  it("askFallback says to a denied agent that nobody answered", async () => {
    const verdict = await expired({ askFallback: "allowlist" }, REVIEWED);
    expect(verdict).toMatchObject({
      code: "consent_expired",
      remedy: "Call again with the same arguments when a person is there to answer",
    });
    expect(verdict.reason).toMatch(/^nobody answered in time, and askFallback is "allowlist": /);
  });

  it("askFallback counts for nobody who went away meanwhile", async () => {
    const stop = new AbortController();
    const desk = await openDesk({ written: full });
    const verdict = desk.hub.onApprovalNeeded(REVIEWED, { ...AGENT, signal: stop.signal });
    await desk.request();
    stop.abort();
    await desk.clock.advance(60_000);
    expect(codeOf(await verdict)).toBe("consent_cancelled");
  });
});
