/** A yes without an end in the log: what the next process that opens it says of it. */
import { describe, expect, it } from "vitest";
import { openAuditLog } from "../src/audit-log.js";
import type { AuditEvent } from "../src/event.js";
import { readAuditLog } from "../src/read.js";
import { call, done, question, reopened, yes } from "./reopened.js";
import { collect } from "./support.js";

describe("openAuditLog() with recover", () => {
  it("says of a yes that nobody took that it was not collected, and of another that nobody knows", async () => {
    const { added, ended } = await reopened(
      [yes("cr_1"), yes("cr_2"), yes("cr_3")],
      ["cr_3"],
      ["cr_1"],
    );
    expect(ended).toBe(2);
    expect(added).toMatchObject([
      {
        eventType: "consent_not_collected",
        requestId: "cr_1",
        decision: "not_collected",
        tool: "tool of cr_1",
        metadata: { approved_seq: 0 },
      },
      {
        eventType: "outcome_unknown",
        requestId: "cr_2",
        decision: "allow",
        metadata: { approved_seq: 1 },
      },
    ]);
    expect((await reopened([yes("cr_1")])).added).toMatchObject([{ eventType: "outcome_unknown" }]);
  });

  it.each(["tool_call_completed", "consent_not_collected", "outcome_unknown"] as const)(
    "leaves a yes alone that has its %s",
    async (eventType) => {
      expect(
        (await reopened([question("cr_1"), yes("cr_1"), { eventType, requestId: "cr_1" }])).added,
      ).toEqual([]);
    },
  );

  it("ends the call that a yes became, and not the yes as well; what ends another yes changes nothing", async () => {
    const forwarded = call({ requestId: "cr_1" });
    expect((await reopened([yes("cr_1"), forwarded])).added).toMatchObject([
      { eventType: "outcome_unknown", metadata: { forwarded_seq: 1 } },
    ]);
    expect((await reopened([yes("cr_1"), forwarded, done({ requestId: "cr_1" })])).added).toEqual(
      [],
    );
    const { added } = await reopened([
      yes("cr_1"),
      { eventType: "consent_not_collected", requestId: "cr_2" },
      call(),
      done(),
    ]);
    expect(added).toMatchObject([{ eventType: "outcome_unknown", metadata: { approved_seq: 0 } }]);
  });

  it("keeps a yes that a store holds over recoveries, until it has an end here or in another log", async () => {
    const { path } = await reopened(
      [yes("cr_1"), yes("cr_2"), yes("cr_3")],
      ["cr_1", "cr_2", "cr_3"],
    );
    const open = async (
      pendingIds: readonly string[],
      elsewhere: readonly string[] = [],
    ): Promise<readonly AuditEvent[]> => {
      const before = (await collect(readAuditLog(path))).length;
      const endedElsewhere = (
        ids: readonly string[],
        isEnd: (eventType: string) => boolean,
      ): Promise<ReadonlySet<string>> => {
        // It is the yes that has to end: its question has, in this very log.
        expect([
          isEnd("consent_approved"),
          isEnd("consent_not_collected"),
          isEnd("tool_call_forwarded"),
        ]).toEqual([false, true, true]);
        return Promise.resolve(new Set(elsewhere.filter((id) => ids.includes(id))));
      };
      await using log = await openAuditLog({
        path,
        recover: { pendingIds: new Set(pendingIds), endedElsewhere },
      });
      await log.close();
      return (await collect(readAuditLog(path))).slice(before);
    };
    // Nothing of it is new: the log does not grow by being looked at.
    expect(await open(["cr_1", "cr_2", "cr_3"])).toEqual([]);
    expect(await open(["cr_1"], ["cr_2"])).toMatchObject([
      { eventType: "outcome_unknown", requestId: "cr_3", metadata: { approved_seq: 2 } },
      {
        eventType: "log_opened",
        metadata: {
          open_questions: [],
          open_yeses: [{ request_id: "cr_1", seq: 0 }],
          ended_elsewhere: ["cr_2"],
        },
      },
    ]);
    // That it has its end elsewhere is said once.
    const [last, ...more] = await open([], ["cr_1"]);
    expect([last?.eventType, last?.metadata["ended_elsewhere"], more]).toEqual([
      "log_opened",
      ["cr_1"],
      [],
    ]);
    expect(last?.metadata).not.toHaveProperty("open_yeses");
    expect(await open([])).toEqual([]);
  });
});
