import { memoryAuditSink } from "@acp/audit";
import { createConsentGate } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { scriptedChannel } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createRightsDesk } from "./ask-for-rights.js";
import type { RightsDesk } from "./ask-for-rights.js";

const COMMAND = "acp mcp login web --scope 'write'";

function deskWith(action: "allow" | "deny"): {
  readonly desk: RightsDesk;
  readonly audit: ReturnType<typeof memoryAuditSink>;
} {
  const audit = memoryAuditSink();
  const rules = [{ match: { server: "web", tool: "mcp:authorize" }, action }];
  const policy = parsePolicy({ version: "1", default_action: "deny", rules });
  const gate = createConsentGate({ policy, channel: scriptedChannel([]), audit });
  const { signal } = new AbortController();
  return { desk: createRightsDesk({ gate, server: "web", agent: { id: "a" }, signal }), audit };
}

describe("createRightsDesk()", () => {
  it.each([
    ["allow", "agreed"],
    ["deny", "denied"],
  ] as const)(
    "asks once for each set of rights, and says that it was %sed",
    async (action, said) => {
      const { desk, audit } = deskWith(action);
      expect(desk.ask(["write", "admin"], COMMAND)).toContain("is being asked");
      await expect.poll(() => desk.ask(["admin", "write"], COMMAND)).toContain(said);
      const asked = audit.events().filter(({ eventType }) => eventType === "policy_evaluated");
      expect(asked).toHaveLength(1);
    },
  );

  it("asks three times at most, and not about nothing", async () => {
    const { desk } = deskWith("deny");
    expect(desk.ask([], COMMAND)).toBe("");
    const texts = ["a", "b", "c", "d"].map((scope) => desk.ask([scope], COMMAND));
    expect(texts.map((text) => text !== "")).toEqual([true, true, true, false]);
  });
});
