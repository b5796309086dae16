/**
 * A gate's options are its own: bounded when it is made, and nothing that happens to what was given
 * changes a gate that runs.
 */
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { agent, allowAll, askAll, first, makeKit, reply } from "../../test/gate-kit.js";
import {
  type Assessor,
  type EvidenceVerifier,
  type GateOptions,
  memoryStore,
  toolAction,
} from "../index.js";
import { parsePolicy } from "../policy.js";

const write = toolAction("files", "write_file", { path: "a.txt" });
const LONG = "x".repeat(257);
const ids = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `p${at}`);
const approver = (id: string) => ({ id, channel: "test", subject: id });
const calm: Assessor = { name: "calm", assess: () => Promise.resolve(undefined) };

/** Options of any shape: who makes a gate from JavaScript is held to no type. */
const untyped = (options: unknown): Partial<GateOptions> => options as Partial<GateOptions>;

describe("createConsentGate()", () => {
  it.each<readonly [string, Partial<GateOptions>, string]>([
    ["more approvers than anybody has", { approvers: ids(10_001).map(approver) }, "approvers"],
    ["an approver with a long name", { approvers: [approver(LONG)] }, "approvers[0].id"],
    [
      "an approver on a channel with a long name",
      { approvers: [{ ...approver("ann"), channel: LONG }] },
      "approvers[0].channel",
    ],
    ["groups that are no object", untyped({ groups: 5 }), "groups"],
    ["a group of more than anybody has", { groups: { team: ids(10_001) } }, 'groups."team"'],
    ["a group with a long name in it", { groups: { team: ["ann", LONG] } }, 'groups."team"[1]'],
    ["channels that are no list", untyped({ channels: 5 }), ""],
    ["an isolation of many characters", { isolation: LONG }, "isolation"],
    ["an assessor with a long name", { assessors: [{ ...calm, name: LONG }] }, "assessors[].name"],
    ["an assessor without a name", { assessors: [{ ...calm, name: "" }] }, "assessors[].name"],
  ])("refuses %s", (_, options, path) => {
    const refused = { code: "options_invalid", message: expect.stringContaining(path) as string };
    expect(() => makeKit(options)).toThrow(expect.objectContaining(refused));
  });
});

describe("a gate that runs", () => {
  it("takes nobody into a group who is added to the list afterwards", async () => {
    const policy = parsePolicy({
      version: "1",
      rules: [{ match: { kind: "*" }, action: "ask", approvers: ["team"] }],
    });
    const groups = { team: ["ann"] };
    const kit = makeKit({ policy, approvers: [approver("ann"), approver("eve")], groups });
    groups.team.push("eve");
    Object.assign(groups, { team: ["eve"] });
    void kit.gate(write, { agent });
    await kit.settle();
    expect(first(kit.shown).request.approvers).toEqual(["ann"]);
  });

  it("hears the assessors that it was made with, by the names that they had", async () => {
    const strict = {
      name: "strict",
      assess: () => Promise.resolve({ effect: "deny", ruleId: "s", reason: "no" } as const),
    };
    const assessors: Assessor[] = [strict];
    const kit = makeKit({ policy: allowAll, assessors });
    assessors.length = 0;
    strict.name = "x".repeat(5_000);
    expect(await kit.gate(write, { agent })).toMatchObject({ decision: "deny" });
    const log = JSON.stringify(kit.sink.events);
    expect(log).toContain('"strict"');
    expect(log.length).toBeLessThan(5_000);
  });

  it("has no verifier that is added afterwards", async () => {
    const policy = parsePolicy({
      version: "1",
      rules: [{ match: { kind: "*" }, action: "ask", approval: "passkey" }],
    });
    const verifiers: EvidenceVerifier[] = [];
    const kit = makeKit({ policy, verifiers });
    verifiers.push({
      algorithm: "WebAuthn",
      verify: () => Promise.resolve({ ok: true }),
    } as unknown as EvidenceVerifier);
    expect(await kit.gate(write, { agent })).toMatchObject({ code: "evidence_unavailable" });
  });

  it("lets no more questions through than it was made with", async () => {
    const promptLimit = { max: 1, windowMs: 60_000 };
    const kit = makeKit({ policy: askAll, promptLimit });
    promptLimit.max = 1_000;
    await kit.gate.open(write, { agent });
    expect(await kit.gate(toolAction("files", "read_file"), { agent })).toMatchObject({
      code: "too_many_questions",
    });
  });

  it("writes by the key that it was given, though the caller wipes its own copy", async () => {
    const key = new Uint8Array(32).fill(7);
    const clock = manualClock();
    const [store, lastEventMs] = [memoryStore(clock), clock.now()];
    const before = makeKit({ store, clock, lastEventMs, recordKey: key });
    await before.gate.open(write, { agent });
    key.fill(0);
    await before.gate.open(toolAction("files", "read_file"), { agent });
    const after = makeKit({ store, clock, lastEventMs, recordKey: new Uint8Array(32).fill(7) });
    expect(await after.gate.resume()).toBe(2);
    const answer = reply(first(after.shown), { decision: "approved" });
    expect(await first(after.shown).session.submit(answer)).toMatchObject({ status: "final" });
  });
});
