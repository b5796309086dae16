import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AnswerTimes, mergeTimes, rebaseSteps, stepOf, timesBehind } from "./escalation.js";

describe("mergeTimes()", () => {
  it("of one ask is that ask, with each person once, at their first time", () => {
    const escalate = [
      { afterMs: 5, approvers: ["bob", "ada"], channel: "web" },
      { afterMs: 9, approvers: ["bob", "cid"] },
    ];
    expect(mergeTimes([{ approvers: ["ada"], escalate }])).toEqual({
      approvers: ["ada", "bob", "cid"],
      escalate: [
        { afterMs: 5, approvers: ["bob"], channel: "web" },
        { afterMs: 9, approvers: ["cid"] },
      ],
    });
    expect(mergeTimes([{}])).toEqual({});
    expect(mergeTimes([])).toEqual({});
    expect(mergeTimes([{ approvers: [] }])).toEqual({ approvers: [] });
  });

  it("lets a person answer when every ask does", () => {
    const merged = mergeTimes([
      { approvers: ["ada", "bob"], escalate: [{ afterMs: 5, approvers: ["cid"] }] },
      {
        approvers: ["ada"],
        escalate: [
          { afterMs: 3, approvers: ["bob"] },
          { afterMs: 9, approvers: ["cid"], channel: "web" },
        ],
      },
    ]);
    expect(merged).toEqual({
      approvers: ["ada", "bob", "cid"],
      escalate: [
        { afterMs: 3, approvers: ["bob"] },
        { afterMs: 9, approvers: ["cid"], channel: "web" },
      ],
    });
  });

  it("knows nobody whom one ask does not know", () => {
    const escalate = [{ afterMs: 5, approvers: ["bob"] }];
    expect(mergeTimes([{ approvers: ["ada"] }, { approvers: ["ada"], escalate }])).toEqual({
      approvers: ["ada"],
    });
    expect(mergeTimes([{ approvers: ["cid"] }, { escalate }])).toEqual({ approvers: ["cid"] });
    expect(mergeTimes([{}, { escalate }])).toEqual({ escalate });
  });

  it("keeps every channel, once a time", () => {
    const web = { afterMs: 5, channel: "web" };
    expect(mergeTimes([{ escalate: [web, web] }, { escalate: [{ ...web, afterMs: 3 }] }])).toEqual({
      escalate: [{ ...web, afterMs: 3 }, web],
    });
  });

  it("lets nobody answer earlier than any of the asks does, in whatever order they come", () => {
    const people = ["ada", "bob", "cid"];
    const step = fc.record({
      afterMs: fc.integer({ min: 1, max: 4 }),
      approvers: fc.subarray(people),
      channel: fc.constantFrom("web", "tv"),
    });
    const ask: fc.Arbitrary<AnswerTimes> = fc.record({
      approvers: fc.option(fc.subarray(people), { nil: undefined }),
      escalate: fc.array(step, { maxLength: 3 }),
    });
    /** From when somebody may answer: 0 from the start, Infinity never. */
    const timeOf = ({ approvers, escalate = [] }: AnswerTimes, id: string): number => {
      if (approvers?.includes(id) === true) return 0;
      const times = escalate.flatMap((each) =>
        each.approvers?.includes(id) === true ? [each.afterMs] : [],
      );
      if (times.length > 0) return Math.min(...times);
      return approvers === undefined ? 0 : Number.POSITIVE_INFINITY;
    };
    fc.assert(
      fc.property(fc.array(ask, { minLength: 1, maxLength: 3 }), (asks) => {
        const merged = mergeTimes(asks);
        expect(mergeTimes(asks.toReversed())).toEqual({
          ...merged,
          ...(merged.approvers === undefined
            ? {}
            : { approvers: expect.arrayContaining([...merged.approvers]) }),
        });
        for (const id of people) {
          const want = Math.max(...asks.map((each) => timeOf(each, id)));
          const at = stepOf(merged.escalate, id);
          const isKnown = merged.approvers === undefined || merged.approvers.includes(id);
          const got = !isKnown
            ? Number.POSITIVE_INFINITY
            : at < 0
              ? 0
              : merged.escalate?.[at]?.afterMs;
          expect(got).toBe(want);
        }
      }),
    );
  });
});

describe("rebaseSteps()", () => {
  it("counts from a later moment; what was taken or is due then comes at once", () => {
    const steps = [
      { afterMs: 5 },
      { afterMs: 60, channel: "web" },
      { afterMs: 90, approvers: ["ada"] },
    ];
    expect(rebaseSteps(steps, { elapsedMs: 50, taken: 0 }).map(({ afterMs }) => afterMs)).toEqual([
      1, 10, 40,
    ]);
    expect(rebaseSteps(steps, { elapsedMs: 2, taken: 2 })).toEqual([
      { afterMs: 1 },
      { afterMs: 1, channel: "web" },
      { afterMs: 88, approvers: ["ada"] },
    ]);
  });
});

describe("timesBehind()", () => {
  it("gives back who waits for no step", () => {
    const escalate = [{ afterMs: 5, approvers: ["bob"] }];
    expect(timesBehind({ approvers: ["ada", "bob"], escalate })).toEqual({
      approvers: ["ada"],
      escalate,
    });
    expect(mergeTimes([timesBehind(mergeTimes([{ approvers: ["ada"], escalate }]))])).toEqual({
      approvers: ["ada", "bob"],
      escalate,
    });
  });
});
