/**
 * What a gate believes of its stores: only what was asked for, only what it wrote, and nothing
 * older than what it has seen.
 */
import { manualClock, pendingRecord } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { type Grant, memoryStore, type PendingRecord, type PendingStore } from "../index.js";
import { authenticGrants } from "./authentic-grants.js";
import { authenticPending } from "./authentic-pending.js";
import { IGNORED } from "./ignored.js";
import { createRecordMacs } from "./record-mac.js";

const macs = createRecordMacs(new Uint8Array(32).fill(7));
const signal = new AbortController().signal;

const GRANT: Grant = {
  id: "gr_1",
  agentId: "demo",
  scope: { kind: "tool", server: "files", name: "write_file" },
  createdAtMs: 1,
  expiresAtMs: 2,
  uses: 2,
  usesLeft: 2,
  requestId: "cr_1",
  approverIds: ["ann"],
  evidence: "any",
  secrets: [],
};

function grantsOf(...kept: readonly unknown[]): {
  readonly grants: ReturnType<typeof authenticGrants>;
  readonly ignored: string[];
} {
  const ignored: string[] = [];
  const list = (): Promise<readonly Grant[]> => Promise.resolve(kept as readonly Grant[]);
  const { grants, claims } = memoryStore(manualClock());
  const store = { ...grants, get: async () => (await list())[0], find: list, list };
  return {
    grants: authenticGrants({
      store,
      claims,
      mac: macs.grant,
      onIgnored: (_kind, _id, why) => ignored.push(why),
    }),
    ignored,
  };
}

describe("authenticGrants()", () => {
  const signed = structuredClone(macs.grant.sign(GRANT));
  const { mac: _mac, ...bare } = signed;

  it("gives what is one, however it is asked for", async () => {
    const { grants, ignored } = grantsOf(signed);
    expect(await grants.get("gr_1")).toEqual(signed);
    expect(await grants.list()).toEqual([signed]);
    expect(ignored).toEqual([]);
  });

  it("gives no other grant than the one that was asked for, and none that is forged", async () => {
    const { grants, ignored } = grantsOf(signed, bare);
    expect(await grants.get("gr_2")).toBeUndefined();
    expect(await grants.list()).toEqual([signed]);
    expect(ignored).toEqual([IGNORED.other, IGNORED.forged]);
    expect(await grantsOf(bare).grants.get("gr_1")).toBeUndefined();
  });

  it.each([0.5, -1, 3, Number.NaN, "1", null, undefined])(
    "gives none with %j of its two uses left",
    async (usesLeft) => {
      const { grants, ignored } = grantsOf({ ...signed, usesLeft });
      expect(await grants.list()).toEqual([]);
      expect(ignored).toEqual([IGNORED.forged]);
    },
  );
});

/** A store in the test's hands: what it holds is what it gives next. */
function questionsOf(): {
  readonly pending: PendingStore;
  readonly ignored: string[];
  /** What every read gives from now on. */
  holds(...records: readonly PendingRecord[]): void;
  /** Ends the reads of one question that began since: they wait until then. */
  slow(): () => void;
} {
  const ignored: string[] = [];
  let kept: readonly PendingRecord[] = [];
  async function* each(): AsyncGenerator<PendingRecord> {
    for (const record of kept) yield await Promise.resolve(structuredClone(record));
  }
  let ready: Promise<void> = Promise.resolve();
  const one = async (): Promise<PendingRecord | undefined> => {
    const [record] = kept;
    await ready;
    return structuredClone(record);
  };
  const yes = (): Promise<boolean> => Promise.resolve(true);
  const store: PendingStore = {
    ...memoryStore(manualClock()).pending,
    put: yes,
    transition: yes,
    get: one,
    open: each,
    watch: each,
  };
  const { claims } = memoryStore(manualClock());
  const onIgnored = (_kind: unknown, _id: unknown, why: string): void => void ignored.push(why);
  return {
    pending: authenticPending({
      store,
      mac: macs.question,
      claims,
      clock: { now: () => 0 },
      onIgnored,
    }),
    ignored,
    holds: (...records) => void (kept = records.map((record) => macs.question.sign(record))),
    slow() {
      let end = (): void => undefined;
      ready = new Promise((resolve) => (end = resolve));
      return end;
    },
  };
}

const RECORD = pendingRecord();
const at = (version: number): PendingRecord => ({ ...RECORD, version });
const withRequest = (change: object, version = 5): PendingRecord => ({
  ...at(version),
  request: { ...RECORD.request, ...change },
});

async function versionsOf(records: AsyncIterable<PendingRecord>): Promise<readonly number[]> {
  const versions: number[] = [];
  for await (const { version } of records) versions.push(version);
  return versions;
}

describe("authenticPending()", () => {
  it("goes back behind no version that it wrote or read", async () => {
    const { pending, ignored, holds } = questionsOf();
    await pending.put(at(0));
    await pending.transition("cr_1", 0, at(1));
    holds(at(0));
    expect(await pending.get("cr_1")).toBeUndefined();
    holds(at(4));
    expect(await pending.get("cr_1")).toMatchObject({ version: 4 });
    holds(at(3));
    expect(await pending.get("cr_1")).toBeUndefined();
    expect(ignored).toEqual([IGNORED.older, IGNORED.older]);
  });

  it("knows the newest version, though a slower read brings an older one after it", async () => {
    const { pending, ignored, holds, slow } = questionsOf();
    holds(at(1));
    const end = slow();
    const read = pending.get("cr_1");
    await pending.put(at(2));
    end();
    expect(await read).toMatchObject({ version: 1 });
    expect(await pending.get("cr_1")).toBeUndefined();
    expect(ignored).toEqual([IGNORED.older]);
  });

  it.each([
    ["another nonce", { nonce: "n_other" }],
    ["another text", { text: "Agent: somebody else" }],
    ["other approvers", { approvers: ["eve"] }],
  ])(
    "takes no question by the same id with %s, though a gate with the key wrote it",
    async (_, change) => {
      const { pending, ignored, holds } = questionsOf();
      await pending.put(at(0));
      holds(withRequest(change));
      expect(await pending.get("cr_1")).toBeUndefined();
      expect(ignored).toEqual([IGNORED.other]);
    },
  );

  it("does not count what the store did not keep", async () => {
    const { ignored, ...kit } = questionsOf();
    const refusing = authenticPending({
      store: {
        ...memoryStore(manualClock()).pending,
        put: () => Promise.resolve(false),
        get: () => Promise.resolve(macs.question.sign(at(0))),
      },
      mac: macs.question,
      claims: memoryStore(manualClock()).claims,
      clock: { now: () => 0 },
      onIgnored: (_kind, _id, why) => ignored.push(why),
    });
    expect(await refusing.put(at(9))).toBe(false);
    expect(await refusing.get("cr_1")).toMatchObject({ version: 0 });
    expect(await kit.pending.get("cr_1")).toBeUndefined();
  });

  it("watches forwards only, and lists no question that is over", async () => {
    const { pending, holds } = questionsOf();
    holds(at(1), at(3), at(2), at(4));
    expect(await versionsOf(pending.watch("cr_1", signal))).toEqual([1, 3, 4]);
    holds({ ...at(5), status: "ended" });
    expect(await versionsOf(pending.open())).toEqual([]);
  });
});
