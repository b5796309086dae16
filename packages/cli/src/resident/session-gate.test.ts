import { createConsentGate, httpAction } from "@acp/core";
import type { ConsentGate, RunResult } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { scriptedChannel } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createBudgets } from "./budgets.js";
import type { Share } from "./budgets.js";
import { LIMITS } from "./limits.js";
import { createClientCalls } from "./calls.js";
import { sessionGate } from "./session-gate.js";

const ACTION = httpAction("GET", "http://api.example/");
const CONTEXT = { agent: { id: "demo" } };
const policy = parsePolicy({ version: "1", default: "allow" });

/** A gate that writes down the ids of calls. */
function gateOf(calls: unknown[]): ConsentGate {
  return createConsentGate({
    policy,
    channel: scriptedChannel([]),
    audit: {
      append(events) {
        for (const { metadata } of events) calls.push(metadata?.["call"]);
        return Promise.resolve({ seq: calls.length, hash: "" });
      },
    },
  });
}

function shareOf(): Share {
  const share = createBudgets(() => 0, { ...LIMITS, calls: 2 }).open("client");
  if (typeof share === "string") throw new Error(share);
  return share;
}

describe("sessionGate()", () => {
  it("gives each request an id of the client's, and no two the same", async () => {
    const ids: unknown[] = [];
    const calls = createClientCalls("ab".repeat(32));
    const gate = sessionGate(gateOf(ids), { roomOf: shareOf().roomOf, calls });
    for (let n = 0; n < 2; n++) await gate.run(ACTION, () => Promise.resolve(), CONTEXT);
    const seen = [...new Set(ids)];
    expect(seen).toHaveLength(2);
    for (const id of seen) expect(id).toMatch(new RegExp(`^cc_[0-9a-f]{16}${calls.client}$`));
  });

  it("denies what is too much for its client at once, and nothing is judged or logged of it", async () => {
    const events: unknown[] = [];
    const share = shareOf();
    const gate = sessionGate(gateOf(events), { roomOf: share.roomOf, calls: undefined });
    let end: () => void = () => undefined;
    const over = new Promise<void>((resolve) => (end = resolve));
    const run = (): Promise<RunResult<void>> => gate.run(ACTION, () => over, CONTEXT);
    const open = [run(), run()];
    const count = (): number => share.usage().calls;
    expect(count()).toBe(2);
    const before = events.length;
    expect(await run()).toMatchObject({
      ran: false,
      verdict: { decision: "deny", code: "client_limit_reached", retryable: true },
    });
    expect(events.length).toBeGreaterThanOrEqual(before);
    end();
    expect(await Promise.all(open)).toMatchObject([{ ran: true }, { ran: true }]);
    expect(count()).toBe(0);
    expect(
      await gate.run(ACTION, () => Promise.reject(new Error("x")), CONTEXT).catch(() => "x"),
    ).toBe("x");
    expect(count()).toBe(0);
  });
});
