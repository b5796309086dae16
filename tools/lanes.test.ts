import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ciPlan } from "./ci-plan.mjs";
import { deepPlan, leftOut } from "./lanes.mjs";
import { root } from "./workspace.mjs";

const ONLY = "packages/cli/test/pinned-server.test.ts";
const HUGE = "packages/cli/test/run-managers-all.test.ts";
const TEXTS: Readonly<Record<string, string>> = {
  [ONLY]: "it()",
  [HUGE]: "isDeep",
  "packages/cli/test/other.test.ts": "it()",
  "packages/core/test/laws.test.ts": "fc.assert(",
};
const plan = (folders: readonly string[] | undefined, budgetS: number) =>
  deepPlan(Object.keys(TEXTS), (file) => TEXTS[file] ?? "", { folders, budgetS });

describe("leftOut()", () => {
  it("is what the quick lane leaves out, and every one of them is there", () => {
    expect(leftOut([])).toContain(ONLY);
    expect(leftOut([]).filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it("keeps a file that somebody names, and none for the name of a folder", () => {
    expect(leftOut(["packages/cli/test/pinned-server.test.ts"])).not.toContain(ONLY);
    expect(leftOut(["pinned-server.test.ts"])).not.toContain(ONLY);
    expect(leftOut(["packages/cli"])).toContain(ONLY);
  });
});

describe("deepPlan()", () => {
  it("takes what only this lane runs, then searches, and says what does not fit", () => {
    expect(plan(undefined, 200)).toEqual({
      only: [ONLY, HUGE],
      searches: ["packages/core/test/laws.test.ts"],
      over: [HUGE],
      cpuS: 82,
    });
    expect(plan(undefined, 20).over).toEqual(["packages/core/test/laws.test.ts", HUGE, HUGE]);
    expect(plan(undefined, Infinity).over).toEqual([]);
  });

  it("takes what changed itself before anything cheaper", () => {
    const limits = { folders: undefined, changed: [HUGE], budgetS: 75 };
    const { only, over } = deepPlan(Object.keys(TEXTS), (file) => TEXTS[file] ?? "", limits);
    expect(only).toContain(HUGE);
    expect(over).toContain(ONLY);
  });

  it("takes what the change reaches", () => {
    const { only, searches } = plan(["packages/core"], 100);
    expect([only, searches]).toEqual([[], ["packages/core/test/laws.test.ts"]]);
    expect(plan([], 100)).toEqual({ only: [], searches: [], over: [], cpuS: 0 });
  });
});

describe("ciPlan()", () => {
  const everything = { base: undefined, folders: undefined };

  it("runs the sandboxes' tests as a plain user where the change reaches them", () => {
    expect(ciPlan("plain", everything, false).run).toContain("packages/cli/test/run");
    const core = { base: "abc", folders: ["packages/core"] };
    expect(ciPlan("plain", core, false)).toEqual({
      run: [],
      why: ["Changed since abc: packages/core"],
    });
  });

  it("says how much of the deep lane it takes, and what it leaves", () => {
    const { run, why } = ciPlan("only", everything, false);
    expect(run).toContain("packages/channel-terminal/test/terminal-more.test.ts");
    expect(why.join("\n")).toMatch(
      /some \d+ CPU seconds of at most 240\nBeyond that.*run-managers/,
    );
    expect(ciPlan("searches", everything, false).run).not.toContain(HUGE);
    expect(ciPlan("searches", everything, true).run).toContain(HUGE);
  });

  it("names the base, where there is one", () => {
    expect(ciPlan("base", everything, false).run).toEqual([]);
    expect(ciPlan("base", { base: "abc", folders: [] }, false).run).toEqual(["abc"]);
  });

  it("throws for a plan that there is not", () =>
    expect(() => ciPlan("none", everything, false)).toThrow('Cannot plan "none"'));
});
