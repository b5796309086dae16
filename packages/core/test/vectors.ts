/**
 * Third-party vectors: found through ACP_VECTORS, never copied into the project; without the folder
 * their tests are skipped by name.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe } from "vitest";

const root: string = fileURLToPath(new URL("../../..", import.meta.url));
const folder: string = resolve(root, process.env["ACP_VECTORS"] ?? "../shared/vectors");

/**
 * One suite of vectors from one subfolder; without it, skipped by name. `run` only declares tests:
 * they read the files.
 */
export function describeVectors(name: string, subfolder: string, run: () => void): void {
  const found = existsSync(join(folder, subfolder));
  describe.runIf(found)(`${name} vectors${found ? "" : ", skipped: no vectors"}`, () => {
    run();
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

/** What came of a suite. */
export interface Result {
  readonly passed: number;
  readonly failed: readonly string[];
  /** Rows left out, counted by reason. */
  readonly excluded: Readonly<Record<string, number>>;
}

/**
 * Counts rows; `end` prints one summary and hands it out for the test to expect, exclusions
 * included.
 */
export interface Tally {
  pass(): void;
  fail(row: string): void;
  exclude(reason: string): void;
  end(suite: string): Result;
}

export function tally(): Tally {
  const failed: string[] = [];
  const excluded: Record<string, number> = {};
  let passed = 0;
  return {
    pass: () => void passed++,
    fail: (row) => void failed.push(row),
    exclude: (reason) => void (excluded[reason] = (excluded[reason] ?? 0) + 1),
    end: (suite) => {
      const reasons = Object.entries(excluded).map(
        ([reason, count]) => `\n  excluded ${count}: ${reason}`,
      );
      process.stdout.write(`${suite}: ${passed}/${passed + failed.length}${reasons.join("")}\n`);
      return { passed, failed, excluded };
    },
  };
}
