import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { holdWriter } from "@acp/home";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sweepReviews } from "./store.js";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "acp-store-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

describe("sweepReviews()", () => {
  it("removes copies whose makers were killed, and none that is being made", async () => {
    const all = ["0123456789ab", "ba9876543210"].map((id) => join(dir, "reviews", id));
    const left = ["snapshot.new", "rest.new", "rest"];
    for (const review of all) {
      for (const name of [...left, "snapshot", "layers"])
        mkdirSync(join(review, name), { recursive: true });
      writeFileSync(join(review, "snapshot.new/content"), "x");
    }
    mkdirSync(join(dir, "reviews/other/snapshot.new"), { recursive: true });
    const home = { dir };
    const held = await holdWriter(all[1] ?? "");
    await sweepReviews(home);
    const there = (review: string | undefined): readonly string[] =>
      [...left, "snapshot", "layers"].filter((name) => existsSync(join(review ?? "", name)));
    expect(there(all[0])).toEqual(["snapshot", "layers"]);
    expect(there(all[1])).toEqual([...left, "snapshot", "layers"]);
    await held[Symbol.asyncDispose]();
    await sweepReviews(home);
    expect(there(all[1])).toEqual(["snapshot", "layers"]);
    expect(existsSync(join(dir, "reviews/other/snapshot.new"))).toBe(true);
  });
});
