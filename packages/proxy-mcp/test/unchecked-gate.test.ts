/**
 * A gate that checks no arguments itself: the proxy does, and what it refuses is in the log like
 * every other decision.
 */
import { memoryAuditSink } from "@acp/audit";
import { createConsentGate } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { expect, it } from "vitest";
import { proxied } from "./support/proxied.js";

const DENIED = ["tool_call_intercepted", "policy_evaluated"];
const FAILED = [...DENIED, "tool_call_forwarded", "tool_call_completed"];

it.each([
  ["deny", "policy_denied", DENIED, { decision: "deny", metadata: { code: "policy_denied" } }],
  [
    "ask",
    "arguments_invalid",
    DENIED,
    { decision: "deny", metadata: { code: "not_performable", denied: '"count" must be >= 1' } },
  ],
  ["allow", "arguments_invalid", FAILED, { metadata: { outcome: "failed" } }],
] as const)(
  "arguments that do not fit are refused by a policy that says %s: %s",
  async (effect, code, types, event) => {
    const audit = memoryAuditSink();
    const policy = { version: "1", default: effect };
    let asked = 0;
    const channel = { name: "counting", deliver: () => Promise.resolve(void asked++) };
    const gate = createConsentGate({ policy: parsePolicy(policy), channel, audit });
    const p = proxied({ policy, gate });
    await p.client.handshake();
    await p.client.request(1, "tools/list");
    const answer = await p.client.call(2, "typed", { count: 0 });
    expect(answer.result).toMatchObject({ isError: true, _meta: { "acp/denied": { code } } });
    expect([asked, audit.events().map(({ eventType }) => eventType)]).toEqual([0, types]);
    expect(audit.events().at(-1)).toMatchObject(event);
    await p.proxy.close();
  },
);
