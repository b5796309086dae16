/**
 * Review kit: agents that write in an overlay, the look at what they wrote, and its take.
 */
import { join } from "node:path";
import { expect } from "vitest";
import type { ReviewSnapshot } from "../src/review-parts.js";
import { makeSnapshot } from "../src/review-snapshot.js";
import { type Taken, takeChanges } from "../src/review-take.js";
import { runShell } from "./namespace-kit.js";
import type { OverlayWorld } from "./overlay-kit.js";

/** A workspace to begin with. */
export const FILES = {
  "a.txt": "one\n",
  "folder/b.txt": "two\n",
  "folder/deep/c.txt": "three\n",
  "run.sh": "#!/bin/sh\n",
};

/** Runs an agent, and looks at what it wrote. */
export async function review(world: OverlayWorld, script: string): Promise<ReviewSnapshot> {
  const { output, exit } = await runShell(`exec 2>&1; ${script}`, world.options);
  expect([exit.code, output]).toEqual([0, ""]);
  return look(world);
}

/** Freezes what the layers hold. */
export function look(world: OverlayWorld): Promise<ReviewSnapshot> {
  return makeSnapshot({
    workspace: world.work,
    layers: world.layers,
    directory: join(world.home, "snapshot"),
    sinceMs: Date.now(),
  });
}

/** Takes what is named, of a snapshot whose digest was shown. */
export function take(
  snapshot: ReviewSnapshot,
  paths: readonly string[] | "all" = "all",
  overwrites = false,
): Promise<Taken> {
  return takeChanges(snapshot, { digest: snapshot.digest, paths, overwrites });
}
