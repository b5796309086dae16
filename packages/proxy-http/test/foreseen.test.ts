/**
 * What would be refused after a yes: nobody is asked about it, the gate says no, and the log has it
 * like every other decision.
 */
import { describe, expect, it } from "vitest";
import { client, errorOf, start } from "./support/started.js";

const POLICIES = {
  denied: { version: "1", default: "deny" },
  asked: { version: "1", default: "ask" },
  allowed: { version: "1", default: "allow" },
} as const;

const HEADS = {
  "a request": ["GET http://10.0.0.1/ HTTP/1.1", "Host: 10.0.0.1", "Connection: close"],
  "a tunnel": ["CONNECT 10.0.0.1:443 HTTP/1.1", "Host: 10.0.0.1:443"],
  "an upgrade": [
    "GET http://93.184.216.34/ HTTP/1.1",
    "Host: 93.184.216.34",
    "Connection: Upgrade",
    "Upgrade: websocket",
  ],
} as const;
const OWN_CODES = {
  "a request": "address_refused",
  "a tunnel": "address_refused",
  "an upgrade": "request_invalid",
} as const;

const kinds = ["a request", "a tunnel", "an upgrade"] as const;
const DENIED = ["tool_call_intercepted", "policy_evaluated"];
const FAILED = [...DENIED, "tool_call_forwarded", "tool_call_completed"];

/** Sends it; what the agent reads, what the log has, and how many people were asked. */
async function send(kind: (typeof kinds)[number], policy: object) {
  const { port, audit, channel } = await start({ policy });
  const raw = await client(port);
  raw.write(`${HEADS[kind].join("\r\n")}\r\n\r\n`);
  const error = errorOf(await raw.ended());
  return {
    error,
    asked: channel.asked(),
    events: audit.events(),
    types: audit.events().map(({ eventType }) => eventType),
  };
}

describe.each(kinds)("%s that is refused anyway", (kind) => {
  it("is denied by the rule that denies it", async () => {
    const { error, asked, events, types } = await send(kind, POLICIES.denied);
    expect([error["code"], asked, types]).toEqual(["policy_denied", 0, DENIED]);
    expect(events[1]).toMatchObject({ decision: "deny", metadata: { code: "policy_denied" } });
  });

  it("is denied where a person would be asked, once and with the reason, and nobody is asked", async () => {
    const { error, asked, events, types } = await send(kind, POLICIES.asked);
    expect([error["code"], asked, types]).toEqual([OWN_CODES[kind], 0, DENIED]);
    expect(events[1]).toMatchObject({
      decision: "deny",
      metadata: { code: "not_performable", denied: error["reason"] },
    });
  });

  it("fails where a rule allows it", async () => {
    const { error, asked, events, types } = await send(kind, POLICIES.allowed);
    expect([error["code"], asked, types]).toEqual([OWN_CODES[kind], 0, FAILED]);
    expect(events[1]).toMatchObject({ decision: "allow" });
    expect(events[3]).toMatchObject({ metadata: { outcome: "failed" } });
  });
});
