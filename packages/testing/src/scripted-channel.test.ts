import {
  type AuditSink,
  type Verdict,
  createConsentGate,
  makeResponse,
  toolAction,
} from "@acp/core";
import { describe, expect, it } from "vitest";
import { manualClock } from "./manual-clock.js";
import { type Script, type ScriptedChannel, scriptedChannel } from "./scripted-channel.js";

function setUp(script: Script) {
  const clock = manualClock();
  const channel: ScriptedChannel = scriptedChannel(script, { clock });
  let seq = -1;
  const audit: AuditSink = {
    append: async (events) => ({ seq: (seq += events.length), hash: `sha256:${"0".repeat(64)}` }),
  };
  const gate = createConsentGate({
    channel,
    audit,
    clock,
    approvers: [{ id: "the-person", channel: "scripted", subject: "local" }],
    layers: [
      {
        name: "asks",
        judge: () => ({
          effect: "ask",
          ruleId: "ask_all",
          reason: "everything is asked",
          ask: {
            timeoutMs: 60_000,
            offers: [
              {
                id: "tool-10m",
                scope: { kind: "tool", server: "files", name: "write_file" },
                ttlMs: 600_000,
              },
            ],
          },
        }),
      },
    ],
  });
  const ask = (): Promise<Verdict> =>
    gate(toolAction("files", "write_file", { path: "a" }), { agent: { id: "agent-1" } });
  return { channel, clock, ask };
}

describe("scriptedChannel()", () => {
  it("follows a list, one answer a question", async () => {
    const { channel, ask } = setUp(["approve", { deny: { reason: "not now" } }]);
    expect(await ask()).toMatchObject({ decision: "allow", code: "consent_approved" });
    const denied = await ask();
    expect(denied.code).toBe("consent_denied");
    expect(denied.reason).toContain("not now");
    expect(channel.asked).toHaveLength(2);
    expect(channel.receipts.map(({ status }) => status)).toEqual(["final", "final"]);
    expect([...channel.endings.values()].map(({ status }) => status)).toEqual([
      "approved",
      "denied",
    ]);
  });

  it("follows a function of the question", async () => {
    const { ask } = setUp(({ action }) =>
      action.parameters["path"] === "a" ? { modify: { path: "b" } } : "deny",
    );
    expect(await ask()).toMatchObject({
      decision: "allow",
      code: "consent_modified",
      action: { args: { path: "b" } },
    });
  });

  it("takes an offer", async () => {
    const { channel, ask } = setUp([{ approve: { offer: "tool-10m" } }]);
    expect(await ask()).toMatchObject({ code: "consent_approved" });
    expect(await ask()).toMatchObject({ code: "grant_used" });
    expect(channel.asked).toHaveLength(1);
  });

  it("is refused the second of two yeses", async () => {
    const { channel, ask } = setUp(["approve_twice"]);
    expect(await ask()).toMatchObject({ decision: "allow" });
    await expect
      .poll(() => channel.receipts)
      .toMatchObject([{ status: "final" }, { status: "refused" }]);
  });

  it("ends in a deny where it ignores, throws, hangs, or its list is over", async () => {
    const { clock, ask } = setUp(["throw", "ignore", "hang"]);
    expect(await ask()).toMatchObject({ code: "channel_failed" });
    for (const _ of ["ignore", "hang"]) {
      const verdict = ask();
      await clock.advance(60_000);
      expect(await verdict).toMatchObject({ code: "consent_expired" });
    }
    const beyond = await ask();
    expect(beyond.code).toBe("channel_failed");
    expect(beyond.reason).toContain("the script ends after 3 questions");
  });

  it("hands in any claim, for anybody", async () => {
    const { channel, clock, ask } = setUp([
      {
        claim: (request) =>
          makeResponse(
            { ...request, nonce: "n_other" },
            { decision: "approved", nowMs: request.createdAtMs, channel: "scripted" },
          ),
      },
      { approve: { subject: "stranger" } },
    ]);
    for (const code of ["nonce_mismatch", "approver_unknown"]) {
      const verdict = ask();
      await clock.advance(60_000);
      expect(await verdict).toMatchObject({ decision: "deny", code: "consent_expired" });
      expect(channel.receipts.at(-1)).toMatchObject({ status: "refused", code });
    }
  });
});
