import { describe, expect, it } from "vitest";
import { tally } from "./tally.mjs";

const run = { strays: 0, isFiltered: false };
const module = (
  ...tests: { name: string; state: string; note?: string; error?: string; isUnsteady?: boolean }[]
) => ({
  file: "a.test.ts",
  brokenBy: [] as string[],
  tests,
});

describe("tally()", () => {
  it("counts passed, failed and skipped and ends with the plain line", () => {
    const tests = [
      { name: "a", state: "passed" },
      { name: "b", state: "failed" },
      { name: "c skipped: no vectors", state: "skipped" },
    ];
    const { lines, isGreen } = tally([module(...tests)], run);
    expect(lines.at(-1)).toBe("1 passed, 1 failed, 1 skipped");
    expect(isGreen).toBe(false);
  });

  it("names what failed and what passed only when it was tried again, with the first line of the error", () => {
    const tests = [
      { name: "a", state: "passed", isUnsteady: true, error: "too slow" },
      { name: "b", state: "failed", error: "expected 1\nto be 2" },
      { name: "c", state: "pending" },
      { name: "d", state: "passed", isUnsteady: false },
    ];
    expect(tally([module(...tests)], run).lines).toEqual([
      "unsteady: a.test.ts: a: too slow",
      "failed: a.test.ts: b: expected 1",
      "pending: a.test.ts: c",
      "2 passed, 2 failed, 0 skipped",
    ]);
  });

  it("takes what a host lacks for the reason of a skip, wherever the name says it", () => {
    const skipped = (name: string) => tally([module({ name, state: "skipped" })], run).lines;
    expect(skipped("uid [needs root, nft: not root] > holds")[0]).toBe(
      "skipped: 1 test needs nft, root: npm run setup -- --system installs what Debian has of it",
    );
    expect(skipped("what it needs > is there").at(-1)).toBe("0 passed, 1 failed, 0 skipped");
  });

  it("is green when everything passed", () => {
    expect(tally([module({ name: "a", state: "passed" })], run)).toEqual({
      lines: ["1 passed, 0 failed, 0 skipped"],
      isGreen: true,
    });
  });

  it("is red when there is no test", () => {
    expect(tally([], run)).toEqual({
      lines: ["no test was found", "0 passed, 0 failed, 0 skipped"],
      isGreen: false,
    });
  });

  it("counts a file that does not load as failed", () => {
    const { lines, isGreen } = tally(
      [
        { file: "b.test.ts", brokenBy: ["no such module"], tests: [] },
        module({ name: "a", state: "passed" }),
      ],
      run,
    );
    expect(lines).toContain("did not run: b.test.ts: no such module");
    expect(lines.at(-1)).toBe("1 passed, 1 failed, 0 skipped");
    expect(isGreen).toBe(false);
  });

  it("counts a skip without a reason, an unfinished test and an error outside any test as failed", () => {
    expect(tally([module({ name: "a", state: "skipped" })], run).lines.at(-1)).toBe(
      "0 passed, 1 failed, 0 skipped",
    );
    expect(tally([module({ name: "a", state: "pending" })], run).lines.at(-1)).toBe(
      "0 passed, 1 failed, 0 skipped",
    );
    expect(
      tally([module({ name: "a", state: "passed" })], { strays: 1, isFiltered: false }),
    ).toMatchObject({ isGreen: false });
  });

  it("shows why a test was skipped", () => {
    expect(tally([module({ name: "a", state: "skipped", note: "no tmux" })], run).lines).toContain(
      "skipped: a.test.ts: a (no tmux)",
    );
  });

  it("says in one line what a machine lacks, and each other reason once", () => {
    const skipped = (name: string) => ({ name, state: "skipped" });
    const tests = [
      skipped("a [needs bubblewrap: not installed]"),
      skipped("b [needs bubblewrap and chromium: not installed]"),
      skipped("c skipped: no vectors"),
      skipped("d skipped: no vectors"),
    ];
    expect(tally([module({ name: "e", state: "passed" }, ...tests)], run).lines).toEqual([
      "skipped: 2 tests need bubblewrap, chromium: npm run setup -- --system installs what Debian has of it",
      "skipped: 2 tests (no vectors)",
      "1 passed, 0 failed, 4 skipped",
    ]);
  });

  it("asks for no reason where a name filter skipped", () => {
    const { lines, isGreen } = tally(
      [module({ name: "a", state: "passed" }, { name: "b", state: "skipped" })],
      {
        strays: 0,
        isFiltered: true,
      },
    );
    expect(lines).toEqual(["1 passed, 0 failed, 1 skipped"]);
    expect(isGreen).toBe(true);
  });
});
