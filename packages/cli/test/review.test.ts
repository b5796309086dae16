/**
 * `acp run --review` and `acp review`: what a command writes reaches the workspace only when
 * somebody takes it.
 */
import { chmod, chown, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { acp } from "./harness.js";
import type { Ended } from "./harness.js";
import { needSandbox, runWorld } from "./run-world.js";
import type { RunWorld } from "./run-world.js";

const NAMESPACE = needSandbox("namespace");
const REVIEW = { args: ["--review"] } as const;

interface Shown {
  readonly id: string;
  readonly digest: string;
  readonly running: boolean;
  readonly changes: readonly { readonly path: string }[];
}

const review = (world: RunWorld, ...words: readonly string[]): Promise<Ended> =>
  acp(["review", ...words], { home: world.home, cwd: world.work });

/** A file of the agent's user. */
async function own(world: RunWorld, name: string, text: string): Promise<void> {
  const { uid, gid } = await stat(world.work);
  await chown(await world.write(name, text), uid, gid);
}

async function show(world: RunWorld, ...words: readonly string[]): Promise<Shown> {
  const { stdout } = await review(world, "show", "--json", ...words);
  return JSON.parse(stdout);
}

describe.skipIf(!NAMESPACE.run)(`acp run --review ${NAMESPACE.reason}`, () => {
  it("leaves the workspace alone, and all of it is taken by its digest", async () => {
    await using world = await runWorld();
    await own(world, "a.txt", "one\n");
    const { code, stderr } = await world.run(
      ["sh", "-c", "echo two > a.txt; echo new > b.txt; echo x > .envrc; exit 7"],
      REVIEW,
    );
    expect(code).toBe(7);
    expect(stderr).toMatch(
      /overlay of its workspace \(3 changes, 0 refused\); see and take it with acp review show [0-9a-f]{12}\n/u,
    );
    expect(await readFile(join(world.work, "a.txt"), "utf8")).toBe("one\n");
    const { id, digest, changes } = await show(world);
    expect(changes.map(({ path }) => path)).toEqual([".envrc", "a.txt", "b.txt"]);
    const wrong = await review(world, "take", id, "--all", "--digest", "0".repeat(64));
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringContaining("not the ones that were shown"),
    ]);
    const taken = await review(world, "take", id, "--all", "--digest", digest);
    expect([taken.code, taken.stdout]).toEqual([
      0,
      expect.stringContaining("name them to take them: .envrc\n"),
    ]);
    expect(await readFile(join(world.work, "a.txt"), "utf8")).toBe("two\n");
    expect((await readdir(world.work)).sort()).toEqual(["a.txt", "b.txt"]);
    const rest = await review(world, "take", id, ".envrc", "--digest", digest);
    expect(rest.stdout).toContain(`Nothing is left of review ${id}`);
    expect((await review(world, "list")).code).toBe(5);
    const events = await world.events();
    const notes = events
      .filter(({ metadata }) => metadata["review"] === id)
      .map(({ metadata }) => [metadata["text"], metadata["digest"]]);
    expect(notes).toEqual([
      [`Taking all of review ${id}`, digest],
      [`Took 2 changes of review ${id}`, digest],
      [`Taking 1 paths of review ${id}`, digest],
      [`Took 1 changes of review ${id}`, digest],
    ]);
  });

  it("shows lines with what would hide made visible, and drops", async () => {
    await using world = await runWorld();
    await own(world, "a.txt", "one\n");
    const script = `printf 'one\\n\\033[2Ktwo\\tx\\n\\342\\200\\256' > a.txt; printf x > "$(printf 'b\\033[2K\\nc')"; printf '\\0' > binary`;
    await world.run(["sh", "-c", script], REVIEW);
    const { stdout } = await review(world, "show");
    const { id } = await show(world);
    const shown = await review(world, "show", id, "--diff");
    for (const text of [stdout, shown.stdout]) expect(text).not.toMatch(/[\u001b\u202e]/u);
    expect(shown.stdout).toContain("+++ b/a.txt\n@@ -1,1 +1,3 @@\n one\n+");
    expect(shown.stdout).toContain("two\tx\n");
    expect(shown.stdout).toContain("not shown: nothing becomes 1 bytes");
    expect((await review(world, "drop", id)).stdout).toContain("the workspace is as it was");
    expect([await readdir(world.work), await readdir(join(world.home, "reviews"))]).toEqual([
      ["a.txt"],
      [],
    ]);
  });

  it("keeps nothing of a command that wrote nothing", async () => {
    await using world = await runWorld();
    const { stderr } = await world.run(["true"], REVIEW);
    expect(stderr).not.toContain("overlay");
    expect(await readdir(join(world.home, "reviews"))).toEqual([]);
  });

  it("is seen while the command runs, outlasts a manager that is killed, and two do not meet", async () => {
    await using world = await runWorld();
    const script = `echo $1 > $1; echo ready; exec sleep 600`;
    const [one, two] = ["one", "two"].map((name) =>
      world.start(["sh", "-c", script, "sh", name], REVIEW),
    );
    if (one === undefined || two === undefined) throw new Error("two were started");
    await one.seen("stdout", "ready");
    await two.seen("stdout", "ready");
    const {
      reviews,
    }: { readonly reviews: readonly { readonly id: string; readonly running: boolean }[] } =
      JSON.parse((await review(world, "list", "--json")).stdout);
    expect(reviews.map(({ running }) => running)).toEqual([true, true]);
    const ids = reviews.map(({ id }) => id);
    const shown = await Promise.all(ids.map((id) => show(world, id)));
    expect(shown.map(({ changes }) => changes.length)).toEqual([1, 1]);
    expect(new Set(shown.flatMap(({ changes }) => changes.map(({ path }) => path)))).toEqual(
      new Set(["one", "two"]),
    );
    expect((await review(world, "drop", ids[0] ?? "")).stderr).toContain("still running");
    one.child.kill("SIGKILL");
    two.child.kill("SIGKILL");
    await Promise.all([one.ended, two.ended]);
    for (const id of ids) {
      const later = await show(world, id);
      expect(later.running).toBe(false);
      expect((await review(world, "take", id, "--all", "--digest", later.digest)).code).toBe(0);
    }
    expect((await readdir(world.work)).sort()).toEqual(["one", "two"]);
  });

  it("refuses what was frozen anew after it was shown", async () => {
    await using world = await runWorld();
    await world.run(["sh", "-c", "echo 1 > a"], REVIEW);
    const { id, digest } = await show(world);
    await writeFile(join(world.work, "a"), "person\n");
    const anew = await show(world, id);
    expect(anew.digest).not.toBe(digest);
    const { code, stderr } = await review(world, "take", id, "--all", "--digest", digest);
    expect([code, stderr]).toEqual([2, expect.stringContaining("not the ones that were shown")]);
  });

  it("says what does not go with it", async () => {
    await using world = await runWorld();
    for (const args of [
      ["--read-only"],
      ["--write", "a"],
      ["--sandbox", "landlock"],
      ["--sandbox", "env"],
    ]) {
      const { code, stderr } = await world.run(["true"], { args: ["--review", ...args] });
      expect([code, stderr]).toEqual([125, expect.stringContaining("Cannot use --review")]);
    }
    await mkdir(join(world.work, "x"));
    await chmod(join(world.work, "x"), 0o777);
    expect((await review(world, "take", "nothing", "--all", "--digest", "x")).code).toBe(2);
    expect((await review(world, "take")).stderr).toContain("name the review");
  });
});
