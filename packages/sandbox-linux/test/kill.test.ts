/**
 * The manager, which is the proxy too, is killed with SIGKILL at random moments: before the
 * hand-off, while the agent starts, long after. Nothing may get out that did not go through the
 * proxy, nothing may be left running, and the next start has to clean up. The seed is in each
 * test's name.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { isDeep } from "../../../tools/deep.js";
import { hostNeed } from "@acp/testing";
import { bundled } from "../../../tools/bundled.js";
import type { KillJob, KillReport } from "./fixtures/kill-world.js";

const WORLD = await bundled(new URL("fixtures/kill-world.ts", import.meta.url));
const MANAGER = await bundled(new URL("fixtures/kill-manager.ts", import.meta.url));
const SEED = Number(process.env["ACP_SEED"] ?? 20_261_122);
const isRoot = process.getuid?.() === 0;

/** Whoever is not root is root of a user namespace, and so of a world in it. */
const WORLD_OF_ITS_OWN = ["--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"];
const UNSHARE = isRoot ? WORLD_OF_ITS_OWN : ["--user", "--map-root-user", ...WORLD_OF_ITS_OWN];

/**
 * Process 1 of a world has to take leave of orphans, as the one of a machine does: a shell that
 * waits does.
 */
const REAPER = ["/bin/sh", "-c", '"$@"; exit $?', "sh"];

const worlds = hostNeed("namespaces of its own", () => triedWith("unshare", [...UNSHARE, "true"]));

/** What a command that should work says instead. */
function triedWith(program: string, args: readonly string[]): string | undefined {
  const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
}

async function killIn(job: Omit<KillJob, "scratch" | "seed" | "program">): Promise<KillReport> {
  const scratch = await mkdtemp(join(tmpdir(), "acp-kill-"));
  try {
    const words = JSON.stringify({
      ...job,
      program: MANAGER,
      scratch,
      seed: SEED,
    } satisfies KillJob);
    const world = spawn("unshare", [...UNSHARE, "--", ...REAPER, process.execPath, WORLD, words], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const report: KillReport = JSON.parse(await text(world.stdout));
    return report;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

interface Case {
  readonly sandbox: KillJob["sandbox"];
  readonly manager: KillJob["manager"];
  readonly moments: number;
  /** Whether it claims that nothing gets out past the proxy. */
  readonly holds: boolean;
  /**
   * What else it needs. The helper in C wants to lie below directories of root, and a world that is
   * not root's has none.
   */
  readonly needs: readonly Need[];
}

type Need = "root" | "bwrap" | "nft" | "cc" | "proxychains4";

const find = (program: string): string | undefined =>
  triedWith("/bin/sh", [
    "-c",
    'command -v "$0" || { echo "$0 is not installed" >&2; exit 1; }',
    program,
  ]);
const isMet = (need: Need): string | undefined =>
  need !== "root" ? find(need) : isRoot ? undefined : "not root";

const CASES: readonly Case[] = [
  {
    sandbox: "namespace",
    manager: "plain",
    moments: isDeep ? 25 : 4,
    holds: true,
    needs: ["bwrap"],
  },
  {
    sandbox: "namespace",
    manager: "root",
    moments: isDeep ? 25 : 4,
    holds: true,
    needs: ["root", "bwrap"],
  },
  {
    sandbox: "uid",
    manager: "root",
    moments: isDeep ? 10 : 3,
    holds: true,
    needs: ["root", "nft", "cc"],
  },
  {
    sandbox: "landlock",
    manager: "plain",
    moments: isDeep ? 10 : 3,
    holds: true,
    needs: ["root", "cc"],
  },
  {
    sandbox: "preload",
    manager: "plain",
    moments: isDeep ? 5 : 2,
    holds: false,
    needs: ["root", "cc", "proxychains4"],
  },
  {
    sandbox: "env",
    manager: "plain",
    moments: isDeep ? 5 : 2,
    holds: false,
    needs: ["root", "cc"],
  },
];

for (const { sandbox, manager, moments, holds, needs } of CASES) {
  const missing = [worlds, ...needs.map((need) => hostNeed(need, () => isMet(need)))].find(
    ({ run }) => !run,
  );
  const what = `${sandbox}, killed as ${manager} at ${moments} moments (seed ${SEED}), leaves nothing behind`;
  it.skipIf(missing !== undefined)(
    missing === undefined ? what : `${what} (skipped: ${missing.reason})`,
    { timeout: 300_000 },
    async () => {
      const report = await killIn({ sandbox, manager, moments });
      expect(report.failures).toEqual([]);
      expect(report.leftOver).toEqual([]);
      expect(report.remains).toEqual([]);
      expect(report.before + report.after).toBe(moments);
      expect(report.heardBefore).toBeGreaterThan(0);
      if (holds) expect(report.leaked).toBe(0);
    },
  );
}
