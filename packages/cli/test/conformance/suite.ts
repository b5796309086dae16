/** The official conformance suite of MCP as a judge: the verdict of every check at an address. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { hostNeed } from "@acp/testing";

/** Revisions of MCP: the last one with sessions, and the first one without. */
export const ERAS = ["2025-11-25", "2026-07-28"] as const;
export type Era = (typeof ERAS)[number];

/** What the suite says of each check, by scenario, id, and how often the id came before. */
export type Verdicts = ReadonlyMap<string, string>;

const RUNNER = join(
  dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json")),
  "dist/index.js",
);
const OUTPUT_MAX = 64 * 1024 * 1024;

/** The suite needs a newer Node than we do. */
let node: string | undefined =
  Number(process.versions.node.split(".")[0]) >= 22 ? process.execPath : undefined;
export const suiteNeed = hostNeed("Node 22 or newer, from npm", () => {
  if (node !== undefined) return undefined;
  const args = ["--yes", "-p", "node@22", "node", "-p", "process.execPath"];
  const { status, stdout, stderr } = spawnSync("npx", args, { encoding: "utf8" });
  if (status !== 0) return stderr.trim().split("\n").at(-1) ?? "npx failed";
  node = stdout.trim();
  return undefined;
});

/** Runs all of the suite's checks of a revision. */
export async function judge(url: string, era: Era): Promise<Verdicts> {
  const folder = await mkdtemp(join(tmpdir(), "acp-conformance-"));
  try {
    const args = ["server", "--url", url, "--suite", "all", "--spec-version", era, "-o", folder];
    // A failed check is an exit code like a crash; what was written tells them apart.
    const said = await new Promise<string>((resolve) =>
      execFile(
        node ?? process.execPath,
        [RUNNER, ...args],
        { maxBuffer: OUTPUT_MAX },
        (_error, stdout, stderr) => resolve(`${stdout}${stderr}`),
      ),
    );
    const verdicts = await readVerdicts(folder);
    if (verdicts.size === 0) throw new Error(`the suite judged nothing: ${said.slice(-2_000)}`);
    return verdicts;
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function readVerdicts(folder: string): Promise<Verdicts> {
  const verdicts = new Map<string, string>();
  // A folder for each scenario, with the time at its end.
  for (const name of (await readdir(folder)).toSorted()) {
    const scenario = name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "");
    const checks: {
      readonly id: string;
      readonly status: string;
      readonly errorMessage?: string;
    }[] = JSON.parse(await readFile(join(folder, name, "checks.json"), "utf8"));
    for (const { id, status, errorMessage } of checks) {
      // Notes of what was sent and came; how many there are is a matter of timing.
      if (status === "INFO") continue;
      const times = [...verdicts.keys()].filter((key) => key.startsWith(`${scenario}: ${id} #`));
      const why = errorMessage === undefined ? "" : `: ${errorMessage}`;
      verdicts.set(`${scenario}: ${id} #${times.length + 1}`, `${status}${why}`);
    }
  }
  return verdicts;
}
