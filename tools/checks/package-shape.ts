/**
 * What would be published: each package is packed, then publint and arethetypeswrong read the archive as a user's tools would,
 * and it holds the licence and the readme but no test.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bin, capture, packages, root as home } from "../workspace.mjs";
import type { Check } from "./check.js";

const pnpm = join(home, "tools/pnpm/node_modules/pnpm/bin/pnpm.cjs");

async function contentProblems(archive: string): Promise<readonly string[]> {
  const { output } = await capture("tar", ["-tzf", archive]);
  const files = output.trim().split("\n");
  const missing = ["package/LICENSE", "package/README.md"].filter((file) => !files.includes(file)).map((file) => `lacks ${file}`);
  const stray = files.filter((file) => /\.test(-d)?\.|tsbuildinfo|\.env|\.pem$/.test(file)).map((file) => `ships ${file}`);
  return [...missing, ...stray];
}

async function toolProblems(name: string, args: readonly string[]): Promise<readonly string[]> {
  const { status, output } = await capture(bin(name), args);
  return status === 0 ? [] : [`${name} says:\n${output.trim()}`];
}

async function problemsOf(dir: string, folder: string): Promise<readonly string[]> {
  const target = join(mkdtempSync(join(tmpdir(), "acp-pack-")), folder);
  try {
    const packed = await capture(process.execPath, [pnpm, "pack", "--pack-destination", target], { cwd: dir });
    if (packed.status !== 0) return [`packages/${folder}: cannot be packed\n${packed.output.trim()}`];
    const archive = join(target, readdirSync(target)[0] ?? "");
    const found = await Promise.all([
      contentProblems(archive),
      toolProblems("publint", ["run", archive, "--strict"]),
      toolProblems("attw", [archive, "--profile", "esm-only", "--no-emoji", "--no-color"]),
    ]);
    return found.flat().map((problem) => `packages/${folder}: ${problem}`);
  } finally {
    rmSync(join(target, ".."), { recursive: true, force: true });
  }
}

export const packageShape: Check = {
  name: "package shape",
  remedy: "Mend the manifest's exports and files; every entry needs types and JavaScript in dist",
  async run({ root }) {
    const found: string[] = [];
    for (const { dir, folder } of packages(root)) found.push(...(await problemsOf(dir, folder)));
    return { problems: found };
  },
};
