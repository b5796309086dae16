import { describe, expect, it } from "vitest";
import { toolAction } from "@acp/core";
import { ASK_ALL, calls, logOf, origins, writes } from "../test/kit.js";
import type { Step } from "../test/kit.js";
import { createLearner } from "./lessons.js";
import type { Lessons } from "./lessons.js";
import { readPolicyDocument } from "./policy-document.js";

async function learn(steps: readonly Step[], policy = ASK_ALL): Promise<Lessons> {
  const learner = createLearner(readPolicyDocument(policy, origins));
  for (const event of await logOf(steps)) learner.learn(event);
  return learner.lessons();
}

describe("createLearner()", () => {
  it("keeps each different call once, with its answers", async () => {
    const { groups, answered } = await learn([
      ...writes("approve", ["/srv/a/b"]),
      ...writes("approve", ["/srv/a/b"]),
      ...writes("deny", ["/srv/a/b"]),
      ...writes("ignore", ["/srv/a/c"]),
    ]);
    expect(answered).toBe(3);
    expect(groups).toHaveLength(1);
    expect(groups[0]?.lessons).toHaveLength(1);
    expect(groups[0]?.lessons[0]).toMatchObject({
      approvedAtMs: [expect.any(Number), expect.any(Number)],
      deniedAtMs: [expect.any(Number)],
      wasApproved: true,
      wasObjected: true,
    });
  });

  it("sorts by the rule that asks now", async () => {
    const policy = `default: ask\nrules:\n  - match: { tool: a }\n    action: ask\n  - match: { args: { x: "1" } }\n    action: ask\n`;
    const { groups } = await learn(
      [
        ...calls("approve", "a", [{}]),
        ...calls("approve", "b", [{ x: 1 }]),
        ...calls("approve", "b", [{ x: 2 }]),
      ],
      policy,
    );
    expect(groups.map(({ shape, askedBy }) => [Object(shape).tool, askedBy])).toEqual([
      ["a", 0],
      ["b", 1],
      ["b", undefined],
    ]);
  });

  it("says why approvals count for nothing", async () => {
    const { groups } = await learn(calls("approve", "delete_all", [{}, {}]));
    expect(groups.map(({ lessons, barred }) => [lessons[0]?.approvedAtMs, [...barred]])).toEqual([
      [[], [["category", 2]]],
    ]);
  });

  it("learns nothing from a call that is larger than a person reads, and counts it", async () => {
    const large = toolAction("files", "write_file", { path: "a", content: "x".repeat(300_000) });
    expect(await learn([{ action: large }, { action: large }])).toMatchObject({
      groups: [],
      answered: 2,
    });
  });
});
