/** A small repository in a temporary folder, to prove that a check goes red on it. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { Check } from "./check.js";

/**
 * Writes the files (objects as JSON) into a fresh git repository that is removed after the test.
 */
export function sample(files: Readonly<Record<string, unknown>>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "acp-check-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(
      join(root, path),
      typeof content === "string" ? content : `${JSON.stringify(content, undefined, 2)}\n`,
    );
  }
  spawnSync("git", ["init", "-q"], { cwd: root });
  return root;
}

/** The problems that a check finds in such a repository. */
export async function problemsOf(
  check: Check,
  files: Readonly<Record<string, unknown>>,
): Promise<readonly string[]> {
  return (await check.run({ root: sample(files), update: false })).problems;
}
