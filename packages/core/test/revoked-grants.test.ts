/** What was revoked stays so, also where a copy of the grants from before is put back. */
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import {
  type GateOptions,
  type Grant,
  type Layer,
  memoryStore,
  revokeGrant,
  type Store,
  toolAction,
} from "../src/index.js";
import { agent, first, type Kit, makeKit, reply } from "./gate-kit.js";

const write = toolAction("files", "write_file", { path: "a.txt" });
const scope = { kind: "tool", server: "files", name: "write_file" } as const;
const offering: Layer = {
  name: "offering",
  judge: () => ({
    effect: "ask",
    ruleId: "o",
    reason: "",
    ask: { offers: [{ id: "t", scope, ttlMs: 300_000, uses: 2 }] },
  }),
};

/** A person's grant as the store held it, in a world of gates that share the store. */
async function granted(): Promise<{
  readonly store: Store;
  readonly clock: Kit["clock"];
  readonly kit: Kit;
  readonly grant: Grant;
  start(more?: Partial<GateOptions>): Kit;
}> {
  const clock = manualClock();
  const store = memoryStore(clock);
  const start = (more?: Partial<GateOptions>): Kit =>
    makeKit({ store, clock, lastEventMs: clock.now(), layers: [offering], ...more });
  const kit = start();
  const verdict = kit.gate(write, { agent });
  await kit.settle();
  await first(kit.shown).session.submit(
    reply(first(kit.shown), { decision: "approved", grantId: "t" }),
  );
  await verdict;
  return { store, clock, kit, grant: first(await store.grants.list()), start };
}

describe("a grant that was revoked", () => {
  it.each(["by a gate", "without one"])(
    "%s stays so where a copy of the grants from before is put back",
    async (how) => {
      const { store, clock, kit, grant, start } = await granted();
      if (how === "by a gate") expect(await kit.gate.revoke(grant.id, "ada")).toBe(true);
      else
        expect(
          await revokeGrant({ ...store, audit: kit.sink, clock }, grant.id, "ada"),
        ).toMatchObject({ id: grant.id });
      await store.grants.put(grant);
      await clock.advance(299_000);
      const next = start();
      expect((await next.gate.open(write, { agent })).decision).toBe("pending");
      await next.settle();
      const ignored = next.sink.events.filter(
        ({ eventType }) => eventType === "stored_record_ignored",
      );
      expect(ignored).toMatchObject([
        { metadata: { kind: "grant", id: grant.id, reason: "it was revoked before" } },
      ]);
    },
  );

  it("opens no permit that it gave before, and is not used where nobody can say whether it was revoked", async () => {
    const { store, kit, grant, start } = await granted();
    const other = start();
    const verdict = await other.gate(write, { agent });
    await kit.gate.revoke(grant.id, "ada");
    await store.grants.put(grant);
    const result =
      verdict.decision === "allow" &&
      (await other.gate.perform(verdict, () => Promise.resolve("done")));
    expect(result).toMatchObject({ ran: false, verdict: { code: "permit_refused" } });
    const claims = {
      ...store.claims,
      isClaimed: () => Promise.reject(new Error("the disk is gone")),
    };
    expect(await start({ store: { ...store, claims } }).gate(write, { agent })).toMatchObject({
      decision: "deny",
      code: "store_failed",
    });
  });

  it("is gone from its store also where the claim fails, which is said", async () => {
    const { store, kit, grant } = await granted();
    const claims = {
      ...store.claims,
      claimOnce: () => Promise.reject(new Error("the disk is full")),
    };
    await expect(
      revokeGrant({ ...store, claims, audit: kit.sink }, grant.id, "ada"),
    ).rejects.toThrow("the disk is full");
    expect(await store.grants.list()).toEqual([]);
    expect(kit.sink.events.at(-1)).toMatchObject({
      eventType: "grant_revoked",
      metadata: { grant: grant.id },
    });
  });
});
