import { describe, expect, it } from "vitest";
import { agent, first, makeKit } from "../../test/gate-kit.js";
import { type Layer, toolAction } from "../index.js";
import { decodeRequest, encodeRequest, requestHash } from "./request-codec.js";
import type { ConsentRequest } from "./request.js";

async function sample(): Promise<ConsentRequest> {
  const layer: Layer = {
    name: "l",
    judge: () => ({
      effect: "ask",
      ruleId: "r",
      reason: "why",
      ask: {
        offers: [
          { id: "t", scope: { kind: "tool", server: "files", name: "x" }, ttlMs: 1_000, uses: 1 },
        ],
      },
    }),
  };
  const kit = makeKit({
    layers: [layer],
    approvers: [{ id: "alice", channel: "test", subject: "1" }],
  });
  await kit.gate.open(toolAction("files", "x", { a: [1, null] }), {
    agent: { ...agent, name: "Demo", command: "node demo.js", parents: ["main"] },
  });
  await kit.settle();
  return first(kit.shown).request;
}

describe("encodeRequest()", () => {
  it("writes S0's names, and what S0 lacks beside them", async () => {
    const wire = encodeRequest(await sample());
    expect(Object.keys(wire)).toEqual([
      "type",
      "version",
      "id",
      "timestamp",
      "expires_at",
      "agent",
      "action",
      "policy",
      "nonce",
      "action_digest",
      "text",
      "approvers",
      "quorum",
      "evidence",
      "offers",
      "secrets",
    ]);
    expect(wire).toMatchObject({
      type: "consent_request",
      version: "0.2.0",
      timestamp: "2026-01-15T10:30:00.000Z",
      agent: { id: "demo", name: "Demo", command: "node demo.js" },
      action: {
        tool: "x",
        server: "files",
        category: "write",
        risk_level: "medium",
        parameters: { a: [1, null] },
      },
      policy: { rule_id: "r", rule_name: "", required_level: "medium" },
    });
  });
});

describe("decodeRequest()", () => {
  it("gives back what was encoded, to the same hash", async () => {
    const request = await sample();
    const decoded = decodeRequest(JSON.parse(JSON.stringify(encodeRequest(request))));
    expect(decoded).toEqual(request);
    expect(requestHash(decoded)).toBe(requestHash(request));
  });

  it.each([
    ["an unknown key", (wire: Record<string, unknown>) => ({ ...wire, extra: 1 })],
    ["another type", (wire: Record<string, unknown>) => ({ ...wire, type: "consent_response" })],
    ["another version", (wire: Record<string, unknown>) => ({ ...wire, version: "0.3.0" })],
    [
      "a time that is none",
      (wire: Record<string, unknown>) => ({ ...wire, expires_at: "tomorrow" }),
    ],
    [
      "an expiry before the question",
      (wire: Record<string, unknown>) => ({ ...wire, expires_at: "2020-01-01T00:00:00Z" }),
    ],
    ["a quorum of nobody", (wire: Record<string, unknown>) => ({ ...wire, quorum: 0 })],
    [
      "approvers that are no list",
      (wire: Record<string, unknown>) => ({ ...wire, approvers: "alice" }),
    ],
  ])("refuses %s", async (_, change) => {
    const wire = change(encodeRequest(await sample()));
    expect(() => decodeRequest(wire as never)).toThrow(
      expect.objectContaining({ code: "message_invalid" }),
    );
  });
});
