/**
 * A yes that is kept or counted is looked at again when it is used: who gave it must still be an
 * approver, and nothing may have become critical.
 */
import { manualClock, seededIds } from "@acp/testing";
import { describe, expect, it } from "vitest";
import {
  type GateOptions,
  memoryStore,
  type Policy,
  toolAction,
  type Verdict,
} from "../src/index.js";
import { parsePolicy } from "../src/policy.js";
import { agent, asPending, first, type Kit, makeKit, reply } from "./gate-kit.js";

const write = toolAction("files", "write_file", { path: "a.txt" });
const [ann, bob, cyd] = ["ann", "bob", "cyd"].map((id) => ({
  id,
  channel: "test",
  subject: `${id}-1`,
})) as [Person, Person, Person];
type Person = NonNullable<GateOptions["approvers"]>[number];

/** One gate after the other over one store. */
function world(options: Partial<GateOptions> = {}): (more: Partial<GateOptions>) => Kit {
  const clock = manualClock();
  const store = memoryStore(clock);
  const ids = seededIds();
  return (more) => makeKit({ store, clock, ids, lastEventMs: clock.now(), ...options, ...more });
}

async function asked(kit: Kit): Promise<Verdict | undefined> {
  let verdict: Verdict | undefined;
  void kit.gate(write, { agent }).then((given) => (verdict = given));
  await kit.settle();
  return verdict;
}

async function defer(kit: Kit): Promise<void> {
  await asPending(await kit.gate.open(write, { agent })).defer();
  await kit.settle();
}

const say = (kit: Kit, { subject }: Person): Promise<unknown> =>
  first(kit.shown).session.submit(reply(first(kit.shown), { decision: "approved" }), { subject });

describe("who said yes and is no approver any more", () => {
  it("has given no yes that is kept: another one is asked", async () => {
    const start = world();
    const before = start({ approvers: [ann, bob] });
    await defer(before);
    expect(await say(before, ann)).toMatchObject({ outcome: "approved" });
    const kit = start({ approvers: [bob] });
    expect(await asked(kit)).toBeUndefined();
    expect(kit.shown).toHaveLength(1);
    expect(await first(before.shown).session.outcome).toMatchObject({
      status: "not_performed",
      detail: expect.stringContaining("no longer an approver") as string,
    });
  });

  it("counts while still an approver", async () => {
    const start = world();
    const before = start({ approvers: [ann, bob] });
    await defer(before);
    await say(before, ann);
    expect(await asked(start({ approvers: [{ ...ann, id: "Ann " }] }))).toMatchObject({
      decision: "allow",
      approvers: ["ann"],
    });
  });

  const two = parsePolicy({
    version: "1",
    rules: [{ match: { tool: "*" }, action: "ask", quorum: 2 }],
  });

  it("is none of several, where the last of them answers after the start", async () => {
    const start = world({ policy: two });
    const before = start({ approvers: [ann, bob, cyd] });
    await defer(before);
    expect(await say(before, ann)).toMatchObject({ status: "counted" });
    const kit = start({ approvers: [bob, cyd] });
    expect(await kit.gate.resume()).toBe(1);
    await kit.settle();
    await say(kit, bob);
    expect(await asked(kit)).toBeUndefined();
    expect(kit.shown).toHaveLength(2);
  });

  it("is none of several, where the caller waits again before the last of them answers", async () => {
    const start = world({ policy: two });
    const before = start({ approvers: [ann, bob, cyd] });
    await defer(before);
    await say(before, ann);
    const kit = start({ approvers: [bob, cyd] });
    expect(await asked(kit)).toBeUndefined();
    expect(await first(before.shown).session.ended).toMatchObject({ status: "cancelled" });
    expect(first(kit.shown).request.approvers).toEqual(["bob", "cyd"]);
  });
});

describe("what has become critical since", () => {
  it("is asked about again: nobody typed the word", async () => {
    const rule = { match: { tool: "*" }, action: "ask", level: "high" };
    let policy: Policy = parsePolicy({ version: "1", rules: [rule] });
    const kit = world({ policy: () => policy })({});
    await defer(kit);
    await first(kit.shown).session.submit(reply(first(kit.shown), { decision: "approved" }));
    policy = parsePolicy({
      version: "1",
      rules: [rule],
      classify: [{ tool: "write_file", category: "write", risk: "critical" }],
    });
    expect(await asked(kit)).toBeUndefined();
    expect(kit.shown).toHaveLength(2);
  });
});
