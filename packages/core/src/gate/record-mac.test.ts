/**
 * A record is one that a gate wrote, member by member: what a store may change by itself is named
 * here, and nothing else may differ.
 */
import { pendingRecord } from "@acp/testing";
import { describe, expect, it } from "vitest";
import type { Grant, JsonValue, PendingRecord } from "../index.js";
import { createRecordCheck, createRecordMacs, type RecordMac } from "./record-mac.js";

const KEY = new Uint8Array(32).fill(7);
const { question, grant } = createRecordMacs(KEY);
const moment = { bootId: "boot_1", uptimeMs: 1 };

const RECORD: Required<Omit<PendingRecord, "mac">> = {
  ...pendingRecord(),
  status: "ended",
  context: { session: "s", task: "t" },
  call: `cc_${"0".repeat(32)}`,
  approvals: [{ approverId: "ann", channel: "test", atMs: 1 }],
  leftUntilMs: 5,
  reserved: [{ key: "k", amount: 1 }],
  escalated: 1,
  end: {
    status: "denied",
    atMs: 1,
    reason: "",
    approverIds: ["ann"],
    validUntilMs: 2,
    recorded: true,
  },
  outcome: { status: "unknown", detail: "" },
  asked: moment,
  logged: { eventId: "ae_1" },
};

const GRANT: Required<Omit<Grant, "mac">> = {
  id: "gr_1",
  agentId: "demo",
  scope: { kind: "tool", server: "files", name: "write_file" },
  createdAtMs: 1,
  expiresAtMs: 2,
  usesLeft: 1,
  requestId: "cr_1",
  approverIds: ["ann"],
  evidence: "any",
  secrets: ["TOKEN"],
  created: moment,
  uses: 2,
  request: pendingRecord().request,
  responses: [{ decision: "approved" }],
  logged: { eventId: "ae_2" },
};

/** As a store gives it back: nothing that the gate itself made. */
const stored = (record: object): Record<string, JsonValue> =>
  structuredClone(record) as Record<string, JsonValue>;

/** The members whose change is not noticed. */
function freeMembersOf<T>(mac: RecordMac<T>, record: T & object): readonly string[] {
  const signed = stored(mac.sign(record) as object);
  const others: readonly JsonValue[] = [0, 7, "x", true, false, [], {}];
  return Object.keys(record).filter((name) => {
    const { [name]: _old, ...without } = signed;
    const changed = others
      .filter((value) => JSON.stringify(value) !== JSON.stringify(signed[name]))
      .map((value) => ({ ...signed, [name]: value }));
    return [without, ...changed].some((each) => mac.open(each) !== undefined);
  });
}

describe("createRecordMacs()", () => {
  it("takes what it wrote, as a store gives it back", () => {
    expect(question.open(stored(question.sign(RECORD)))).toMatchObject(RECORD);
    expect(grant.open(stored(grant.sign(GRANT)))).toMatchObject(GRANT);
    expect(createRecordCheck(KEY)(stored(question.sign(RECORD)))).toBe(true);
  });

  it("notices a change of every member but those that a store counts with", () => {
    expect(freeMembersOf(question, RECORD)).toEqual(["version", "adopted"]);
    expect(freeMembersOf(grant, GRANT)).toEqual(["usesLeft"]);
  });

  it("notices a member that was added", () => {
    const { leftUntilMs: _until, end: _end, ...open } = RECORD;
    const signed = stored(question.sign(open));
    for (const more of [{ leftUntilMs: 5 }, { end: RECORD.end }, { other: 1 }])
      expect(question.open({ ...signed, ...more })).toBeUndefined();
  });

  it("takes no MAC that is absent, of another record, of another key or of another kind", () => {
    const signed = stored(question.sign(RECORD));
    const other = stored(question.sign({ ...RECORD, id: "cr_2" }));
    const elsewhere = createRecordMacs(new Uint8Array(32).fill(8)).question;
    const { mac: _mac, ...bare } = signed;
    for (const each of [
      bare,
      { ...signed, mac: "" },
      { ...signed, mac: "zz" },
      { ...signed, mac: other["mac"] },
      { ...other, id: "cr_1" },
    ])
      expect(question.open(each)).toBeUndefined();
    expect(elsewhere.open(signed)).toBeUndefined();
    // The same members in both kinds: only the domain tells them apart.
    const plain = { id: "x", agentId: "demo" };
    expect(question.open(stored(grant.sign(plain as unknown as Grant)))).toBeUndefined();
    expect(grant.open(stored(question.sign(plain as unknown as PendingRecord)))).toBeUndefined();
  });

  it("takes nothing that is no record, and never throws", () => {
    const throwing = (): never => {
      throw new Error("gotcha");
    };
    const hostile = new Proxy({}, { ownKeys: throwing, getOwnPropertyDescriptor: throwing });
    for (const value of [undefined, null, 7, "text", [], hostile])
      expect(question.open(value)).toBeUndefined();
  });

  it("gives what is frozen through and through", () => {
    for (const each of [question.sign(RECORD), question.open(stored(question.sign(RECORD)))]) {
      expect(Reflect.set(each ?? {}, "agentId", "root")).toBe(false);
      expect(Reflect.set(each?.end ?? {}, "status", "approved")).toBe(false);
      expect(Reflect.set(each?.request.agent ?? {}, "id", "root")).toBe(false);
    }
  });

  it("signs what JavaScript lets others' texts hold", () => {
    const broken = {
      ...RECORD,
      end: { ...RECORD.end, reason: "half \ud800", modifications: undefined },
    };
    const signed = question.sign(broken as unknown as PendingRecord);
    expect(question.open(stored(signed))?.end).toEqual({ ...RECORD.end, reason: "half \ufffd" });
  });
});
