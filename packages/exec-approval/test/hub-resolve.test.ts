/** The hub as its clients see it: who may answer what, and once. */
import { readPolicy } from "@acp/core/yaml";
import { describe, expect, it } from "vitest";
import { AGENT, codeOf, DANGEROUS, LAPTOP, openDesk, PHONE, REVIEWED } from "./desk.js";

describe("resolveExecApproval()", () => {
  const NOT_FOUND = {
    ok: false,
    error: { code: "NOT_FOUND", message: "Approval request not found or already resolved" },
  };

  it("resolveExecApproval() knows no request that never was, and changes nothing", async () => {
    const desk = await openDesk();
    const verdict = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    await desk.request();
    const before = desk.types();
    const params = {
      approvalId: "019444a0-1234-7abc-8000-abcdef123456",
      decision: "allow-once",
    } as const;
    expect(await desk.hub.resolveExecApproval(params, { from: PHONE })).toEqual(NOT_FOUND);
    expect(desk.types()).toEqual(before);
    await desk.answer("deny");
    await verdict;
  });

  it("resolveExecApproval() takes one decision a request", async () => {
    const desk = await openDesk();
    const verdict = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    await desk.answer("deny");
    expect(await desk.answer("allow-once")).toEqual(NOT_FOUND);
    expect(codeOf(await verdict)).toBe("consent_denied");
  });

  it("resolveExecApproval() takes one of two decisions that come at once", async () => {
    const desk = await openDesk();
    const verdict = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    await desk.request();
    const replies = await Promise.all([desk.answer("deny"), desk.answer("allow-once", 0, LAPTOP)]);
    expect(replies.filter(({ ok }) => ok).length).toBe(1);
    expect(replies.find(({ ok }) => !ok)).toEqual(NOT_FOUND);
    expect((await verdict).decision).toBe(replies[0].ok ? "deny" : "allow");
  });

  it("resolveExecApproval() finds nothing after the time is over", async () => {
    const desk = await openDesk();
    const verdict = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    await desk.request();
    await desk.clock.advance(60_000);
    expect(codeOf(await verdict)).toBe("consent_expired");
    expect(await desk.answer("allow-once")).toEqual(NOT_FOUND);
  });

  it("resolveExecApproval() takes no decision at the very moment the time is over", async () => {
    const desk = await openDesk();
    const verdict = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    await desk.request();
    desk.clock.jump(60_000);
    expect(await desk.answer("allow-once")).toEqual(NOT_FOUND);
    await desk.clock.advance(60_000);
    expect((await verdict).decision).toBe("deny");
  });

  it.each(["device-stranger", "", "agent-1"])(
    "resolveExecApproval() refuses a decision from %j and leaves the request open",
    async (from) => {
      const desk = await openDesk();
      const verdict = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
      expect(await desk.answer("allow-once", 0, from)).toMatchObject({
        ok: false,
        error: { code: "FORBIDDEN" },
      });
      expect(desk.hub.openApprovals().length).toBe(1);
      await desk.answer("deny");
      expect(codeOf(await verdict)).toBe("consent_denied");
    },
  );

  it("resolveExecApproval() refuses the agent's own device, though it is a client", async () => {
    const desk = await openDesk({ clients: ["agent-1", PHONE] });
    const verdict = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    expect(await desk.answer("allow-once", 0, "agent-1")).toMatchObject({
      ok: false,
      error: { code: "FORBIDDEN" },
    });
    await desk.answer("deny");
    await verdict;
  });

  it.each(["allow", "", "ALLOW-ONCE", "toString", undefined, null, true, ["allow-once"]])(
    "resolveExecApproval() takes no decision of %j and leaves the request open",
    async (decision) => {
      const desk = await openDesk();
      const verdict = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
      const { approvalId } = await desk.request();
      // @ts-expect-error What a client of another make sends.
      const reply = await desk.hub.resolveExecApproval({ approvalId, decision }, { from: PHONE });
      expect(reply).toMatchObject({ ok: false, error: { code: "INVALID_PARAMS" } });
      expect(desk.hub.openApprovals().length).toBe(1);
      await desk.answer("deny");
      await verdict;
    },
  );

  it("resolveExecApproval() takes no yes to a dangerous command with a wrong word", async () => {
    const desk = await openDesk();
    const verdict = desk.hub.onApprovalNeeded(DANGEROUS, AGENT);
    const { approvalId } = await desk.request();
    const wrong = await desk.hub.resolveExecApproval(
      { approvalId, decision: "allow-once", confirmation: "yes" },
      { from: PHONE },
    );
    expect(wrong).toMatchObject({ ok: false, error: { code: "CONFIRMATION_REQUIRED" } });
    const right = await desk.hub.resolveExecApproval(
      { approvalId, decision: "allow-once", confirmation: "approve" },
      { from: PHONE },
    );
    expect(right.ok).toBe(true);
    expect((await verdict).decision).toBe("allow");
  });

  it("resolveExecApproval() wants the word where the hub was told so", async () => {
    const desk = await openDesk({ confirmDangerous: true });
    const verdict = desk.hub.onApprovalNeeded(DANGEROUS, AGENT);
    expect(await desk.answer("allow-once")).toMatchObject({
      ok: false,
      error: { code: "CONFIRMATION_REQUIRED" },
    });
    expect((await desk.answer("deny")).ok).toBe(true);
    expect(codeOf(await verdict)).toBe("consent_denied");
  });

  it("resolveExecApproval() counts distinct people where a rule wants two", async () => {
    const policy = readPolicy(`
version: "1"
rules:
  - { name: two people, match: { kind: shell }, action: ask, quorum: 2 }
`);
    const desk = await openDesk({ policy });
    const verdict = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    expect(await desk.answer("allow-once")).toEqual({
      ok: true,
      payload: { ok: true, note: "counted: 1 of 2; the request stays open" },
    });
    expect(desk.hub.openApprovals().length).toBe(1);
    expect(await desk.answer("allow-once", 0, LAPTOP)).toEqual({ ok: true, payload: { ok: true } });
    const allowed = await verdict;
    expect(allowed.decision === "allow" && allowed.approvers).toEqual([PHONE, LAPTOP]);
  });

  it("resolveExecApproval() gives devices the names of their people", async () => {
    const approvers = [{ id: "alice", channel: "exec-hub", subject: PHONE }];
    const desk = await openDesk({ approvers });
    const verdict = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    expect((await desk.answer("allow-once", 0, LAPTOP)).ok).toBe(false);
    await desk.answer("allow-once");
    const allowed = await verdict;
    expect(allowed.decision === "allow" && allowed.approvers).toEqual(["alice"]);
  });

  it("resolveExecApproval() says where a decision could not be recorded, and the command is denied", async () => {
    const desk = await openDesk();
    const verdict = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    await desk.request();
    desk.audit.fail(new Error("the disk is full"));
    expect(await desk.answer("allow-once")).toMatchObject({ ok: false, error: { code: "FAILED" } });
    expect(codeOf(await verdict)).toBe("audit_failed");
  });
});
