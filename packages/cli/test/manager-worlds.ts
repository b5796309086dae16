/**
 * Worlds of the manager kit: what they need of the host, and how the kit is run in one, against
 * `acp run` or what is compared with it.
 */
import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { buildEscapePrograms, escapeWorld, hostNeed } from "@acp/testing";
import type { HostNeed, ManagerReport } from "@acp/testing";
import { bundled } from "../../../tools/bundled.js";
import { isDeep } from "../../../tools/deep.js";
import { BIN } from "./harness.js";

/** A user without rights, who has a name in a world. */
export const PLAIN_USER = 61_000;
/** For a test: beyond what a busy machine takes, for two rounds with 40 races each as well. */
export const TIMEOUT_MS = isDeep ? 5_400_000 : 900_000;

const isRoot = process.getuid?.() === 0;

function asStranger(): void {
  execFileSync("setpriv", [
    "--reuid",
    "61100",
    "--regid",
    "61100",
    "--clear-groups",
    "test",
    "-r",
    fileURLToPath(import.meta.url),
  ]);
}

/** What a test may need of the host; asked inside of the test. */
export const NEEDS = {
  plain: (): HostNeed =>
    hostNeed(
      "a world of its own (root or user namespaces), bubblewrap, git, npm, python3 and cc",
      () => {
        for (const program of ["cc", "git", "npm", "python3", "bwrap"])
          execFileSync(program, ["--version"], { stdio: "ignore" });
        execFileSync(
          "unshare",
          isRoot ? ["--net", "true"] : ["--user", "--map-root-user", "--net", "true"],
          { stdio: "pipe" },
        );
        if (isRoot) asStranger();
        return undefined;
      },
    ),
  root: (): HostNeed =>
    hostNeed("root, and a checkout that others can read", () => {
      if (!isRoot) return `this is uid ${process.getuid?.()}`;
      asStranger();
      return undefined;
    }),
} as const;

/** How the kit is run. */
export interface ManagerWorld {
  /** A sandbox of `acp run`, or `careless`, `bwrap` or `srt`. */
  readonly manager: string;
  /** Who starts it. */
  readonly uid: number;
  /** How many second starts each race has. */
  readonly races: number;
  /** Ids of the attempts to make; all of them where nothing is said. */
  readonly only?: readonly string[];
}

/** A directory with the kit's programs. */
export interface ManagerWorlds extends AsyncDisposable {
  run(world: ManagerWorld): Promise<ManagerReport>;
}

/** Makes it. */
export async function openManagerWorlds(): Promise<ManagerWorlds> {
  const directory = mkdtempSync(join(tmpdir(), "acp-manager-"));
  const reports = join(directory, "reports");
  chmodSync(directory, 0o755);
  mkdirSync(reports);
  chmodSync(reports, 0o777);
  await buildEscapePrograms(directory);
  const kit = await bundled(new URL("fixtures/escape-manager-kit.ts", import.meta.url));
  let count = 0;
  return {
    async run({ manager, uid, races, only = [] }) {
      const report = join(reports, `${manager}-${(count += 1)}.json`);
      const [program, ...args] = escapeWorld(
        [process.execPath, kit, manager, report, BIN, String(races), only.join()],
        { directory, uid },
      );
      let said = "";
      await promisify(execFile)(program, args, { timeout: TIMEOUT_MS, maxBuffer: 2 ** 24 }).catch(
        (error: unknown) => {
          said = error instanceof Error ? error.message : String(error);
        },
      );
      try {
        return JSON.parse(readFileSync(report, "utf8"));
      } catch (cause) {
        throw new Error(`The kit wrote no report: ${said}`, { cause });
      }
    },
    [Symbol.asyncDispose]: async () => rmSync(directory, { recursive: true, force: true }),
  };
}
