/**
 * Takes of what real agents wrote: what reaches the workspace while somebody else works in it.
 */
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeSnapshot, readSnapshot } from "../src/review-snapshot.js";
import { takeChanges } from "../src/review-take.js";
import { namespaces } from "./namespace-kit.js";
import { overlayWorld } from "./overlay-kit.js";
import { FILES, review, take } from "./review-kit.js";

describe.skipIf(!namespaces.run)(`a take ${namespaces.reason}`, () => {
  it("refuses a digest that is not the list's, and a snapshot that was changed after it was shown", async () => {
    await using world = overlayWorld(FILES);
    const snapshot = await review(world, "echo new > a.txt; echo more > b.txt");
    const before = world.look();
    await expect(
      takeChanges(snapshot, { digest: "0".repeat(64), paths: "all", overwrites: false }),
    ).rejects.toThrow(expect.objectContaining({ code: "options_invalid" }));
    const content = join(snapshot.directory, "content");
    writeFileSync(content, readFileSync(content, "latin1").replace("new", "bad"), "latin1");
    await expect(take(snapshot)).rejects.toThrow(
      expect.objectContaining({ code: "sandbox_failed" }),
    );
    expect(world.look()).toEqual(before);
    truncateSync(content, 1);
    await expect(take(snapshot)).rejects.toThrow(
      expect.objectContaining({ code: "sandbox_failed" }),
    );
    expect(world.look()).toEqual(before);
    writeFileSync(
      join(snapshot.directory, "changes.json"),
      JSON.stringify({ ...snapshot.listing, refused: [] }) + " ",
    );
    expect(readSnapshot(snapshot.directory)?.digest).not.toBe(snapshot.digest);
    const later = readSnapshot(snapshot.directory);
    expect(later).toBeDefined();
    if (later !== undefined)
      await expect(
        takeChanges(later, { digest: snapshot.digest, paths: "all", overwrites: false }),
      ).rejects.toThrow(/not the ones/u);
  });

  it("tells a conflict, keeps what somebody changed, and gives it up only when told to", async () => {
    await using world = overlayWorld(FILES);
    const snapshot = await review(
      world,
      "echo agent > a.txt; rm run.sh; echo agent > new; echo agent > folder/b.txt",
    );
    world.write("a.txt", "person\n");
    world.write("new", "person\n");
    world.write("run.sh", "person\n");
    const first = await take(snapshot);
    expect([first.conflicts, first.taken]).toEqual([["run.sh", "a.txt", "new"], ["folder/b.txt"]]);
    expect(readFileSync(join(world.work, "a.txt"), "utf8")).toBe("person\n");
    expect((await take(snapshot, ["a.txt"], true)).taken).toEqual(["a.txt"]);
    expect(readFileSync(join(world.work, "a.txt"), "utf8")).toBe("agent\n");
    expect(readFileSync(join(world.work, "new"), "utf8")).toBe("person\n");
  });

  it("tells what somebody changed while the agent worked, although the list shows it", async () => {
    await using world = overlayWorld(FILES);
    await review(world, "echo agent > a.txt; echo agent > run.sh");
    world.write("a.txt", "person\n");
    const { ctimeMs } = lstatSync(join(world.work, "a.txt"));
    writeFileSync(join(world.work, "a.txt"), "person\n");
    const parts = {
      workspace: world.work,
      layers: world.layers,
      directory: join(world.home, "snapshot"),
    };
    const snapshot = await makeSnapshot({ ...parts, sinceMs: ctimeMs - 1_000 });
    expect(snapshot.listing.changes.find(({ path }) => path === "a.txt")?.isChangedHere).toBe(true);
    expect((await take(snapshot, ["a.txt"])).conflicts).toEqual(["a.txt"]);
    expect((await take(snapshot, ["a.txt"], true)).taken).toEqual(["a.txt"]);
  });

  it("follows no link that took a folder's place between the look and the take", async () => {
    await using world = overlayWorld(FILES);
    const outside = join(world.home, "outside");
    mkdirSync(join(outside, "deep"), { recursive: true });
    const snapshot = await review(
      world,
      "echo x > folder/new; echo y > folder/deep/c.txt; rm folder/b.txt",
    );
    writeFileSync(join(outside, "b.txt"), "two\n");
    writeFileSync(join(outside, "deep/c.txt"), "three\n");
    renameSync(join(world.work, "folder"), join(world.work, "away"));
    symlinkSync(outside, join(world.work, "folder"));
    const { taken, conflicts, already } = await take(snapshot);
    expect([taken, conflicts, already]).toEqual([
      [],
      ["folder/deep/c.txt", "folder/new"],
      ["folder/b.txt"],
    ]);
    expect(readdirSync(outside).sort()).toEqual(["b.txt", "deep"]);
    expect(readFileSync(join(outside, "deep/c.txt"), "utf8")).toBe("three\n");
  });

  it("takes nothing into another folder of the workspace's name", async () => {
    await using world = overlayWorld(FILES);
    const snapshot = await review(world, "echo x > new");
    renameSync(world.work, `${world.work}-old`);
    mkdirSync(world.work);
    await expect(take(snapshot)).rejects.toThrow(
      expect.objectContaining({ code: "sandbox_failed" }),
    );
    rmSync(world.work, { recursive: true });
    symlinkSync(`${world.work}-old`, world.work);
    await expect(take(snapshot)).rejects.toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
    unlinkSync(world.work);
    renameSync(`${world.work}-old`, world.work);
    expect((await take(snapshot)).taken).toEqual(["new"]);
  });

  it("leads out by no link that comes of two harmless halves", async () => {
    await using world = overlayWorld({ ...FILES, "inner/x": "x" });
    const snapshot = await review(world, "ln -s inner/up hop");
    expect(snapshot.listing.changes).toHaveLength(1);
    symlinkSync("/etc", join(world.work, "inner/up"));
    expect((await take(snapshot)).failed).toEqual([
      { path: "hop", reason: expect.stringContaining("leads out") },
    ]);
  });

  it("leads out by no link of an earlier take, whatever a later one makes of its way", async () => {
    await using world = overlayWorld({ ...FILES, "shallow/x": "x", "deep/er/x": "x" });
    const first = await review(world, "ln -s deep/er/../../folder hop");
    expect((await take(first)).taken).toEqual(["hop"]);
    const second = await review(world, "rm -r deep/er; ln -s ../shallow deep/er");
    expect(second.listing.changes.map(({ path }) => path)).toContain("deep/er");
    const taken = await take(second);
    expect(taken.failed).toEqual([
      { path: "deep/er", reason: expect.stringContaining("leads out") },
    ]);
    expect(lstatSync(join(world.work, "deep/er")).isDirectory()).toBe(true);
  });

  it("takes links whose way is made by others of the same take, in whatever order", async () => {
    await using world = overlayWorld({ ...FILES, "one/two/x": "x" });
    const snapshot = await review(world, "ln -s p/../../a.txt a-hop; ln -s one/two p");
    expect((await take(snapshot, ["a-hop"])).failed).toHaveLength(1);
    expect((await take(snapshot)).taken).toEqual(["p", "a-hop"]);
  });

  it("goes on where a take was interrupted", async () => {
    await using world = overlayWorld(FILES);
    const snapshot = await review(world, "echo 1 > one; echo 2 > two; rm a.txt");
    await take(snapshot, ["one"]);
    world.write("two.part", "left");
    const { taken, already } = await take(snapshot);
    expect([taken, already]).toEqual([["a.txt", "two"], ["one"]]);
  });
});
