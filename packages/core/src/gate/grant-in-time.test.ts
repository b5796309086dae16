import { describe, expect, it } from "vitest";
import { agent, first, makeKit, reply } from "../../test/gate-kit.js";
import { type Grants, memoryGrants, toolAction } from "../index.js";
import { parsePolicy } from "../policy.js";

const policy = parsePolicy({
  version: "1",
  rules: [{ match: { tool: "write" }, action: "ask", offers: [{ covers: "tool", ttl: 60 }] }],
  default: "deny",
});
const write = toolAction("files", "write", {});

describe("a yes that covers more", () => {
  it("lets its call go on once the next one would be covered, and not before", async () => {
    let letGo = (): void => undefined;
    const disk = new Promise<void>((resolve) => (letGo = resolve));
    const memory = memoryGrants();
    const grants: Grants = { ...memory, put: async (grant) => disk.then(() => memory.put(grant)) };
    const kit = makeKit({ policy, store: { grants } });
    let isOver = false;
    const verdict = kit.gate(write, { agent }).finally(() => (isOver = true));
    await kit.settle();
    const offer = first(kit.shown).request.offers[0]?.id ?? "";
    const receipt = first(kit.shown).session.submit(
      reply(first(kit.shown), { decision: "approved", grantId: offer }),
    );
    await kit.settle();
    expect(isOver).toBe(false);
    letGo();
    expect(await receipt).toEqual({ status: "final", outcome: "approved" });
    expect((await verdict).decision).toBe("allow");
    expect(await kit.gate(write, { agent })).toMatchObject({
      decision: "allow",
      code: "grant_used",
    });
  });

  it("stands also where what else it covers cannot be kept, and says so", async () => {
    const grants: Grants = { ...memoryGrants(), put: () => Promise.reject(new Error("disk full")) };
    const kit = makeKit({ policy, store: { grants } });
    const verdict = kit.gate(write, { agent });
    await kit.settle();
    const offer = first(kit.shown).request.offers[0]?.id ?? "";
    const receipt = await first(kit.shown).session.submit(
      reply(first(kit.shown), { decision: "approved", grantId: offer }),
    );
    expect(receipt).toMatchObject({
      status: "refused",
      code: "store_failed",
      reason: expect.stringContaining("the answer was taken"),
    });
    expect((await verdict).decision).toBe("allow");
    expect((await kit.gate.open(write, { agent })).decision).toBe("pending");
  });
});
