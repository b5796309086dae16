/** Third-party vectors: found through ACP_VECTORS, never copied into the project; without the folder their tests are skipped by name. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root: string = fileURLToPath(new URL("../../../", import.meta.url));
const folder: string = resolve(root, process.env["ACP_VECTORS"] ?? "../shared/vectors");

/** One suite of vectors from one subfolder, or one skipped test. */
export function describeVectors(name: string, subfolder: string, run: () => void): void {
  describe(`${name} vectors`, () => {
    if (existsSync(join(folder, subfolder))) run();
    else it.skip("skipped: no vectors", () => {});
  });
}

export function vectorBytes(path: string): Uint8Array {
  return readFileSync(join(folder, path));
}

export function vectorText(path: string): string {
  return readFileSync(join(folder, path), "utf8");
}

export function vectorJson(path: string): unknown {
  return JSON.parse(vectorText(path));
}

export function vectorNames(path: string): readonly string[] {
  return readdirSync(join(folder, path)).sort();
}

/** Counts what passed, what failed and what was left out with its reason; prints one summary and fails on any failure. */
export interface Tally {
  pass(): void;
  fail(what: string): void;
  /** Left out of the total, counted by reason. */
  exclude(reason: string): void;
  /** The expected counts of exclusions keep a regression from hiding among them. */
  end(name: string, exclusions?: Readonly<Record<string, number>>): void;
}

export function tally(): Tally {
  const failures: string[] = [];
  const excluded: Record<string, number> = {};
  let passed = 0;
  return {
    pass: () => void passed++,
    fail: (what) => void failures.push(what),
    exclude: (reason) => void (excluded[reason] = (excluded[reason] ?? 0) + 1),
    end: (name, exclusions = {}) => {
      const reasons = Object.entries(excluded).map(([reason, count]) => `\n  excluded ${count}: ${reason}`);
      process.stdout.write(`${name}: ${passed}/${passed + failures.length}${reasons.join("")}\n`);
      expect(failures).toEqual([]);
      expect(passed).toBeGreaterThan(0);
      expect(excluded).toEqual(exclusions);
    },
  };
}
