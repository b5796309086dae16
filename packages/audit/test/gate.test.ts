import { appendFile, readFile, truncate } from "node:fs/promises";
import { type Channel, createConsentGate, toolAction } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { describe, expect, it } from "vitest";
import { openAuditLog, readAuditLog, verifyAuditLog } from "../src/index.js";
import { collect, scratchLog } from "./support.js";

const policy = parsePolicy({
  version: "1",
  default_action: "deny",
  rules: [
    { id: "reads", match: { tool: "read" }, action: "allow" },
    { id: "asks", match: { tool: "ask" }, action: "ask" },
  ],
});
const context = { agent: { id: "agent-1" } };
const silent: Channel = { name: "silent", deliver: () => Promise.resolve() };

describe("a gate over a log that failed", () => {
  it("allows nothing, goes on answering denials, and allows again once the log is mended and opened again", async () => {
    const path = await scratchLog();
    const first = await openAuditLog({ path });
    const gate = createConsentGate({ policy, channel: silent, audit: first });
    expect(await gate(toolAction("files", "read", {}), context)).toMatchObject({
      decision: "allow",
    });
    const whole = (await readFile(path)).length;
    await appendFile(path, "{"); // somebody else writes
    for (let again = 0; again < 3; again++) {
      expect(await gate(toolAction("files", "read", {}), context)).toMatchObject({
        decision: "deny",
        code: "audit_failed",
      });
      expect(await gate(toolAction("files", "ask", {}), context)).toMatchObject({
        decision: "deny",
        code: "audit_failed",
      });
      expect(await gate(toolAction("files", "delete", {}), context)).toMatchObject({
        decision: "deny",
        code: "policy_denied",
      });
      await truncate(path, whole); // mended, but a latch is a latch
    }
    await first.close();
    await using second = await openAuditLog({ path });
    const reopened = createConsentGate({ policy, channel: silent, audit: second });
    expect(await reopened(toolAction("files", "read", {}), context)).toMatchObject({
      decision: "allow",
    });
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true });
  });

  it("finds, after a crash, the question and the call of a real gate that had no end", async () => {
    const path = await scratchLog();
    const first = await openAuditLog({ path });
    const gate = createConsentGate({ policy, channel: silent, audit: first });
    await gate.open(toolAction("files", "ask", { path: "/a" }), context);
    const done = await gate.run(toolAction("files", "read", { n: 1 }), async () => "done", context);
    expect(done.ran).toBe(true);
    void gate.run(toolAction("files", "read", { n: 2 }), () => new Promise(() => {}), context);
    while (
      (await collect(readAuditLog(path, { filter: { eventType: "tool_call_forwarded" } }))).length <
      2
    )
      await Promise.resolve();
    await first.close();
    await using second = await openAuditLog({ path, recover: { pendingIds: new Set() } });
    expect(second.ended).toBe(2);
    const events = await collect(readAuditLog(path));
    const forwarded = events.filter(({ eventType }) => eventType === "tool_call_forwarded");
    expect(events.slice(-3)).toMatchObject([
      { eventType: "consent_expired", tool: "ask", requestId: expect.stringMatching(/^cr_/) },
      {
        eventType: "outcome_unknown",
        tool: "read",
        metadata: { forwarded_seq: forwarded[1]?.seq, isolation: "none" },
      },
      { eventType: "log_opened" },
    ]);
  });
});
