import { describe, expect, it } from "vitest";
import { ASK_ALL, calls, logOf, origins, writes } from "../test/kit.js";
import type { Step } from "../test/kit.js";
import { createLearner } from "./lessons.js";
import { readPolicyDocument } from "./policy-document.js";
import { propose } from "./propose.js";

async function argsOf(
  steps: readonly Step[],
  policy = ASK_ALL,
): Promise<readonly unknown[] | string> {
  const document = readPolicyDocument(policy, origins);
  const learner = createLearner(document);
  for (const event of await logOf(steps, { policy })) learner.learn(event);
  const [group] = learner.lessons().groups;
  if (group === undefined) return "nothing learned";
  const proposed = propose(group, {
    document,
    effect: "allow",
    min: 3,
    sinceMs: 0,
    ids: new Set(),
  });
  return "proposals" in proposed
    ? proposed.proposals.map(({ rule }) => Object(rule["match"]).args)
    : proposed.problem;
}
const thrice = (directory: string): readonly string[] =>
  ["a", "b", "c"].map((name) => `${directory}/${name}.md`);
const content = "text *";

describe("propose()", () => {
  it("divides what has no directory in common", async () => {
    expect(
      await argsOf(writes("approve", [...thrice("/srv/one"), ...thrice("/opt/two"), "/var/x.md"])),
    ).toEqual([
      { path: { path: "/srv/one/*.md" }, content },
      { path: { path: "/opt/two/*.md" }, content },
    ]);
  });

  it("divides as far as it must to leave out what was denied", async () => {
    const steps = [
      ...writes("approve", [...thrice("/srv/x/one"), ...thrice("/srv/x/two")]),
      ...writes("deny", ["/srv/x/one/z.md"]),
    ];
    expect(await argsOf(steps)).toEqual([{ path: { path: "/srv/x/two/*.md" }, content }]);
  });

  it("divides by a value where each has answers enough, and only there", async () => {
    const pages = (spaces: readonly string[]) =>
      calls(
        "approve",
        "create_page",
        spaces.map((space, index) => ({ space, title: `t${index}` })),
      );
    expect(await argsOf(pages(["x", "y", "x", "y", "x", "y"]))).toEqual([
      { space: "x", title: "*" },
      { space: "y", title: "*" },
    ]);
    expect(await argsOf(pages(["x", "y", "x", "y", "x"]))).toEqual([{ space: "*", title: "*" }]);
  });

  it("divides by an argument that says what is done, and keeps the parts that are large enough", async () => {
    const changes = (modes: readonly string[]) =>
      calls(
        "approve",
        "update_page",
        modes.map((mode, index) => ({ mode, title: `t${index}` })),
      );
    expect(await argsOf(changes(["a", "a", "a", "b"]))).toEqual([{ mode: "a", title: "*" }]);
    expect(await argsOf(changes(["a", "a", "b", "b"]))).toMatch(
      /^argument mode: it says what is done/,
    );
  });

  it.each([
    ["too few", writes("approve", ["/srv/x/a", "/srv/x/b"]), ASK_ALL],
    [
      "its names cannot stand in a rule",
      calls("approve", "create_page", [{ "<<": "a" }, { "<<": "a" }, { "<<": "a" }]),
      ASK_ALL,
    ],
    // The rule that asks also asks where the mode is missing; a rule that allows does not allow it.
    [
      "no single pattern covers all of it",
      writes("approve", thrice("/srv/x")),
      'rules:\n  - match: { tool: write_file, args: { mode: "*" } }\n    action: ask\n',
    ],
  ])("says why there is none: %s", async (problem, steps, policy) => {
    expect(await argsOf(steps, policy)).toBe(problem);
  });
});
