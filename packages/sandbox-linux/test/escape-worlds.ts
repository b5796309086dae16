/**
 * Worlds of the escape kit for the tests of this package: what they need of the host, and how a
 * manager is run in one.
 */
import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildEscapePrograms, escapeWorld, type HostNeed, hostNeed } from "@acp/testing";
import { bundled } from "../../../tools/bundled.js";
import { whyClosed } from "./checkout.js";

/** A user without rights; in a world it has a name and subordinate users. */
export const PLAIN_USER = 61_000;
/**
 * Another one, without subordinate users. Limits count the processes of a user wherever they run:
 * tests side by side have one each.
 */
export const OTHER_PLAIN_USER = 61_001;
export const TIMEOUT_MS = 180_000;

const isRoot = process.getuid?.() === 0;

/**
 * What a test may need of the host. Asked inside of the test, so that on a build server those alone
 * fail that lack something.
 */
export const NEEDS = {
  world: (): HostNeed =>
    hostNeed("a world of its own (root or user namespaces), iproute2, script and cc", () => {
      execFileSync("cc", ["--version"], { stdio: "ignore" });
      execFileSync("ip", ["-V"], { stdio: "ignore" });
      execFileSync("script", ["--version"], { stdio: "ignore" });
      execFileSync(
        "unshare",
        isRoot ? ["--net", "true"] : ["--user", "--map-root-user", "--net", "true"],
        { stdio: "pipe" },
      );
      return whyClosed();
    }),
  bubblewrap: (): HostNeed =>
    hostNeed("bubblewrap and user namespaces", () => {
      execFileSync("bwrap", ["--unshare-user", "--unshare-net", "--dev-bind", "/", "/", "true"], {
        stdio: "pipe",
      });
      return undefined;
    }),
  root: (): HostNeed =>
    hostNeed("root", () => (isRoot ? whyClosed() : `this is uid ${process.getuid?.()}`)),
} as const;

/** A directory with the kit's programs, and a place for reports. */
export interface Worlds extends AsyncDisposable {
  /**
   * Runs a manager (a file of `fixtures/`) as this uid in a world of its own and gives the report
   * that it wrote.
   */
  run(manager: string, backend: string, uid: number): Promise<unknown>;
}

export async function openWorlds(): Promise<Worlds> {
  const directory = mkdtempSync(join(tmpdir(), "acp-escape-"));
  const reports = join(directory, "reports");
  chmodSync(directory, 0o755);
  mkdirSync(reports);
  chmodSync(reports, 0o777);
  await buildEscapePrograms(directory);
  const programs: Record<string, Promise<string>> = {};
  return {
    async run(manager, backend, uid) {
      const report = join(reports, `${backend}-${uid}.json`);
      const file = await (programs[manager] ??= bundled(
        new URL(`fixtures/${manager}`, import.meta.url),
      ));
      // In a terminal of its own, for attempts that would type into it.
      const command = `exec "${process.execPath}" "${file}" ${backend} "${report}"`;
      const [program, ...args] = escapeWorld(
        ["script", "--quiet", "--return", "--command", command, "/dev/null"],
        { directory, uid },
      );
      const options = { timeout: TIMEOUT_MS, maxBuffer: 2 ** 24 };
      let said = "";
      try {
        await promisify(execFile)(program, args, options);
      } catch (error) {
        // execFile's own error
        const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
        said = `${stderr}${stdout}`;
      }
      try {
        return JSON.parse(readFileSync(report, "utf8"));
      } catch (cause) {
        throw new Error(`The manager wrote no report: ${said}`, { cause });
      }
    },
    [Symbol.asyncDispose]: async () => rmSync(directory, { recursive: true, force: true }),
  };
}
