/**
 * The look at what agents wrote, while other work of this process goes on.
 */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isAsWanted, makeSnapshot } from "../src/review-snapshot.js";
import { namespaces } from "./namespace-kit.js";
import { overlayWorld } from "./overlay-kit.js";
import { FILES, look, review, take } from "./review-kit.js";

const MANY = "mkdir many; for i in $(seq 3000); do echo $i > many/$i; done";

describe.skipIf(!namespaces.run)(`the look at a review ${namespaces.reason}`, () => {
  it("lets others go on, says how far it is, and ends when it is told to", async () => {
    await using world = overlayWorld(FILES);
    const before = await review(world, MANY);
    const over = new AbortController();
    const steps: number[] = [];
    const parts = {
      workspace: world.work,
      layers: world.layers,
      directory: join(world.home, "snapshot"),
      sinceMs: 0,
    };
    const making = makeSnapshot({
      ...parts,
      signal: over.signal,
      onProgress: (entries) => {
        steps.push(entries);
        over.abort(new Error("a person has enough"));
      },
    });
    await expect(making).rejects.toThrow("a person has enough");
    expect(steps).toHaveLength(1);
    // A fast machine sees them all in its first slice, and copies none of them in it.
    expect(steps[0]).toBeLessThanOrEqual(3001);
    expect(readdirSync(world.home).sort()).toEqual(["layers", "snapshot"]);
    expect((await look(world)).listing.changes).toEqual(before.listing.changes);
  });

  it("knows whether something is left, and copies nothing for it", async () => {
    await using world = overlayWorld(FILES);
    const snapshot = await review(world, "echo new > a.txt; mkdir x; echo y > x/y");
    const parts = { workspace: world.work, layers: world.layers, sinceMs: 0 };
    expect(await isAsWanted(parts)).toBe(false);
    await take(snapshot, ["a.txt"]);
    expect(await isAsWanted(parts)).toBe(false);
    await take(snapshot);
    expect(await isAsWanted(parts)).toBe(true);
    expect(readdirSync(world.home).sort()).toEqual(["layers", "snapshot"]);
    writeFileSync(join(world.work, "x/y"), "other\n");
    expect(await isAsWanted(parts)).toBe(false);
    expect(existsSync(join(world.layers, "upper/x/y"))).toBe(true);
  });
});
