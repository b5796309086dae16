/** How an event looks as text. */
import type { AuditEvent } from "@acp/audit";
import { describe, expect, it } from "vitest";
import { eventLines } from "./event-text.js";

const event = (fields: Partial<AuditEvent>): AuditEvent => ({
  id: "ae_1",
  atMs: 0,
  eventType: "tool_call_intercepted",
  requestId: "",
  agent: "agent-1",
  tool: "write_file",
  category: "write",
  riskLevel: "medium",
  decision: "",
  responseTimeMs: 0,
  policyRule: "",
  metadata: {},
  seq: 0,
  previousHash: null,
  hash: `sha256:${"0".repeat(64)}`,
  ...fields,
});
const plain = { tone: (_tone: unknown, text: string) => text };
const below = (fields: Partial<AuditEvent>): readonly string[] =>
  eventLines(event(fields), plain).slice(1);

describe("eventLines()", () => {
  it("shows where a call goes and with which arguments", () => {
    const parameters = { path: "a\nb", n: 1 };
    expect(below({ metadata: { kind: "tool", server: "files", parameters } })).toEqual([
      "    server: files",
      String.raw`    arguments: {"n":1,"path":"a\nb"}`,
    ]);
    expect(below({ metadata: { kind: "http", server: "example.com" } })).toEqual([
      "    host: example.com",
    ]);
  });

  it("shows who answered, and what was approved in the place of what was asked", () => {
    const metadata = {
      approvers: ["operator", "second"],
      channels: ["terminal"],
      approved_parameters: { path: "/tmp" },
    };
    expect(below({ eventType: "consent_approved", metadata })).toEqual([
      '    approved arguments: {"path":"/tmp"}',
      "    approver: operator, second (terminal)",
    ]);
  });

  it("leaves the rest of long arguments to --json, and keeps every text on its line", () => {
    const [, line = ""] = below({
      metadata: { server: "f", parameters: { text: "x".repeat(5_000) } },
    });
    expect(line).toMatch(/x… \(4011 more characters; --json shows all\)$/);
    expect(below({ metadata: { server: "a\nb\u001b[2J" } }).join("")).not.toMatch(/[\n\u001b]/);
  });

  it("is one line where there is nothing more to say", () => {
    expect(below({ eventType: "policy_evaluated" })).toEqual([]);
    const notice = { notice: "isolation", text: "held", server: "x" };
    expect(below({ eventType: "gate_notice", metadata: notice })).toEqual([]);
  });
});
