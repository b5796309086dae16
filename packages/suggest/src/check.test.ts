import { describe, expect, it } from "vitest";
import { toolAction } from "@acp/core";
import { ASK_ALL, calls, logOf, origins, suggest, writes } from "../test/kit.js";
import type { Step } from "../test/kit.js";
import { createChecker } from "./check.js";
import type { Checked } from "./check.js";
import { createLearner } from "./lessons.js";
import type { LoggedEvent } from "./logged-call.js";
import { readPolicyDocument } from "./policy-document.js";
import { propose } from "./propose.js";

const PATHS = ["~/p/app/a.md", "~/p/app/b.md"];

/** Learns from one log, checks against another. */
async function check(
  learned: readonly LoggedEvent[],
  checked: readonly LoggedEvent[],
  effect: "allow" | "deny" = "allow",
): Promise<readonly Checked[]> {
  const document = readPolicyDocument(ASK_ALL, origins);
  const learner = createLearner(document);
  for (const event of learned) learner.learn(event);
  const context = { document, effect, min: 2, sinceMs: 0, ids: new Set<string>() };
  const proposals = learner.lessons().groups.flatMap((group) => {
    const proposed = propose(group, context);
    return "proposals" in proposed ? proposed.proposals : [];
  });
  const checker = createChecker(proposals, document);
  for (const event of checked) checker.check(event);
  return checker.results();
}

const approvals = (): Promise<readonly LoggedEvent[]> => logOf(writes("approve", PATHS));

describe("createChecker()", () => {
  it.each([
    ["denied", "deny"],
    ["edited", { modify: { path: "x", content: "y" } }],
  ] as const)("finds a %s call that was not learned from", async (_what, answer) => {
    const more = await logOf(
      calls(answer, "write_file", [{ path: "~/p/app/z.md", content: "text z" }]),
    );
    expect(await check(await approvals(), more)).toEqual([
      expect.objectContaining({ problem: "you denied or edited a call that it would cover" }),
    ]);
  });

  it("finds an approval, or one by an earlier consent, that a deny would cover", async () => {
    const denials = await logOf(writes("deny", PATHS));
    const approved = await logOf(writes("approve", ["/elsewhere"]));
    const granted = approved.map((event) =>
      event.eventType === "consent_requested" ? { ...event, eventType: "grant_used" } : event,
    );
    for (const more of [approved, granted])
      expect(await check(denials, more, "deny")).toEqual([
        expect.objectContaining({ problem: "you approved a call that it would cover" }),
      ]);
    expect(await check(denials, denials, "deny")).toEqual([
      expect.not.objectContaining({ problem: expect.anything() }),
    ]);
  });

  it("counts what each rule would have answered, by how it ended, and nothing else", async () => {
    const steps: readonly Step[] = [
      ...writes("approve", PATHS),
      ...writes("ignore", PATHS),
      ...writes("approve", ["/elsewhere/x"]),
      ...calls("deny", "read_file", [{}]),
    ];
    const asked = await logOf(steps);
    const unasked = await logOf(writes("approve", PATHS), {
      policy: "rules:\n  - match: { tool: write_file }\n    action: allow\n",
    });
    const [checked] = await check(await approvals(), [...asked, ...unasked]);
    expect(checked?.answered).toEqual({
      approved: 2,
      edited: 0,
      denied: 0,
      unanswered: 2,
      granted: 0,
      unasked: 2,
    });
    expect(checked?.problem).toBeUndefined();
  });

  it("trusts no relative path beside a denied one from the root: the gate may have worked elsewhere", async () => {
    const relative = writes("approve", ["docs/a.md", "docs/b.md"]);
    const denied = (path: string): readonly Step[] => writes("deny", [path]);
    const reasons = async (steps: readonly Step[]): Promise<unknown> => {
      const { suggestions, heldBack } = await suggest(steps, { min: 2 });
      return suggestions.length > 0
        ? Object(suggestions[0]?.rule["match"]).args.path
        : heldBack.map(({ reason }) => reason);
    };
    expect(await reasons([...relative, ...denied("src/x")])).toEqual({ path: "docs/*.md" });
    expect(await reasons([...relative, ...denied("/elsewhere/docs/x.md")])).toEqual([
      "an answered call cannot be compared with it",
    ]);
  });

  it("finds a rule that would do more than answer questions", async () => {
    const document = readPolicyDocument(
      'default: ask\nrules:\n  - match: { args: { path: "/etc/*" } }\n    action: deny\n',
      origins,
    );
    const learner = createLearner(document);
    for (const event of await approvals()) learner.learn(event);
    const [group] = learner.lessons().groups;
    if (group === undefined) throw new Error("nothing was learned");
    const proposed = propose(group, {
      document,
      effect: "allow",
      min: 2,
      sinceMs: 0,
      ids: new Set(),
    });
    if (!("proposals" in proposed)) throw new Error(proposed.problem);
    const rule = { id: "everything", match: { tool: "*" }, action: "allow" };
    const forged = proposed.proposals.flatMap((proposal) => {
      const policy = document.with(rule, 0);
      return policy === undefined ? [] : [{ ...proposal, rule, policy }];
    });
    const checker = createChecker(forged, document);
    for (const event of await logOf([
      { action: toolAction("files", "write_file", { path: "/etc/passwd" }) },
    ]))
      checker.check(event);
    expect(checker.results()).toEqual([
      expect.objectContaining({ problem: "it would change what the policy decides by itself" }),
    ]);
  });
});
