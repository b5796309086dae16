import { memoryAuditSink } from "@acp/audit";
import { createConsentGate } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { scriptedChannel } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createRightsDesk } from "./ask-for-rights.js";

type Ask = (scopes: readonly string[], agent?: string) => string;

const COMMAND = "acp mcp login web --scope 'write'";

function deskWith(action: "allow" | "deny"): {
  readonly ask: Ask;
  readonly audit: ReturnType<typeof memoryAuditSink>;
} {
  const audit = memoryAuditSink();
  const rules = [{ match: { server: "web", tool: "mcp:authorize" }, action }];
  const policy = parsePolicy({ version: "1", default_action: "deny", rules });
  const gate = createConsentGate({ policy, channel: scriptedChannel([]), audit });
  const { signal } = new AbortController();
  const desk = createRightsDesk({ server: "web", signal });
  const ask: Ask = (scopes, agent = "a") =>
    desk.ask(scopes, COMMAND, { gate, agent: { id: agent } });
  return { ask, audit };
}

describe("createRightsDesk()", () => {
  it.each([
    ["allow", "agreed"],
    ["deny", "denied"],
  ] as const)(
    "asks once for each set of rights, and says that it was %sed",
    async (action, said) => {
      const { ask, audit } = deskWith(action);
      expect(ask(["write", "admin"])).toContain("is being asked");
      await expect.poll(() => ask(["admin", "write"])).toContain(said);
      const asked = audit.events().filter(({ eventType }) => eventType === "policy_evaluated");
      expect(asked).toHaveLength(1);
      // As the agent whose call needs them, and each hears its own answer.
      expect(ask(["admin", "write"], "b")).toContain("is being asked");
      await expect.poll(() => ask(["admin", "write"], "b")).toContain(said);
      const agents = audit
        .events()
        .filter(({ eventType }) => eventType === "policy_evaluated")
        .map(({ agent }) => agent);
      expect(agents).toEqual(["a", "b"]);
    },
  );

  it("asks three times at most, and not about nothing", async () => {
    const { ask } = deskWith("deny");
    expect(ask([])).toBe("");
    const texts = ["a", "b", "c", "d"].map((scope) => ask([scope]));
    expect(texts.map((text) => text !== "")).toEqual([true, true, true, false]);
    // Another agent has questions of its own.
    expect(ask(["d"], "b")).toContain("is being asked");
  });
});
