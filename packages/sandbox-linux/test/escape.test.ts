/**
 * The escape kit against every backend. First with no sandbox at all: what does not get out there is no attempt. Each run is a world of its own
 * (see packages/testing/escape/world.sh), so nothing here touches the machine.
 */
import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { buildEscapePrograms, type EscapeReport, escapeAttempts, escapeWorld, formatEscapeReport, hostNeed } from "@acp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const MANAGER = fileURLToPath(new URL("fixtures/escape-manager.ts", import.meta.url));
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PLAIN_USER = 61_000;
const TIMEOUT_MS = 180_000;

const directory = mkdtempSync(join(tmpdir(), "acp-escape-"));

const world = hostNeed("a world of its own (root or user namespaces), iproute2 and cc", () => {
  execFileSync("cc", ["--version"], { stdio: "ignore" });
  execFileSync("ip", ["-V"], { stdio: "ignore" });
  execFileSync("script", ["--version"], { stdio: "ignore" });
  execFileSync("unshare", process.getuid?.() === 0 ? ["--net", "true"] : ["--user", "--map-root-user", "--net", "true"], { stdio: "pipe" });
  return undefined;
});
const root = hostNeed("root", () => (process.getuid?.() === 0 ? undefined : `this is uid ${process.getuid?.()}`));

/** Runs the kit as a manager with this uid in a world of its own. */
async function escape(backend: string, uid: number): Promise<EscapeReport> {
  const report = join(directory, "reports", `${backend}-${uid}.json`);
  // In a terminal of its own, for those who would type into it.
  const command = `exec "${process.execPath}" --import tsx "${MANAGER}" ${backend} "${report}"`;
  const [program, ...args] = escapeWorld(["script", "--quiet", "--return", "--command", command, "/dev/null"], { directory, uid });
  const { stdout, stderr } = await promisify(execFile)(program, args, { cwd: ROOT, timeout: TIMEOUT_MS, maxBuffer: 2 ** 24 }).catch(
    (error) => error,
  );
  try {
    const result = JSON.parse(readFileSync(report, "utf8")) as EscapeReport;
    process.stdout.write(`\n${formatEscapeReport(result)}\n`);
    return result;
  } catch (cause) {
    throw new Error(`The manager wrote no report: ${stderr}${stdout}`, { cause });
  }
}

const idsOf = ({ results }: EscapeReport, outcome: string): readonly string[] =>
  results.filter((result) => result.outcome === outcome).map(({ id, detail }) => `${id}: ${detail}`);

beforeAll(async () => {
  if (!world.run) return;
  chmodSync(directory, 0o755);
  mkdirSync(join(directory, "reports"));
  chmodSync(join(directory, "reports"), 0o777);
  await buildEscapePrograms(directory);
}, TIMEOUT_MS);

afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe("escapeAttempts", () => {
  it("are at least sixty, each with an id of its own", () => {
    expect(escapeAttempts.length).toBeGreaterThanOrEqual(60);
    expect(new Set(escapeAttempts.map(({ id }) => id)).size).toBe(escapeAttempts.length);
  });

  it(
    "get out where there is no sandbox",
    async ({ skip }) => {
      if (!world.run) skip(world.reason);
      const report = await escape("open", PLAIN_USER);
      expect(idsOf(report, "blocked")).toEqual([]);
      expect(idsOf(report, "escaped").length).toBeGreaterThanOrEqual(60);
      expect(report.strays).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    "get out where an agent has capabilities and no sandbox",
    async ({ skip }) => {
      if (!root.run) skip(root.reason);
      const report = await escape("open", 0);
      expect(idsOf(report, "blocked")).toEqual([]);
      expect(report.strays).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

// The helper of landlock wants directories that are root's own above it, which a user namespace has not.
describe.each([
  { backend: "namespace", uid: 0, need: root, isBarrier: true },
  { backend: "namespace", uid: PLAIN_USER, need: world, isBarrier: true },
  { backend: "uid", uid: 0, need: root, isBarrier: true },
  { backend: "landlock", uid: 0, need: root, isBarrier: true },
  { backend: "landlock", uid: PLAIN_USER, need: root, isBarrier: true },
  { backend: "preload", uid: PLAIN_USER, need: world, isBarrier: false },
  { backend: "env", uid: PLAIN_USER, need: world, isBarrier: false },
])("$backend, from a manager with uid $uid", ({ backend, uid, need, isBarrier }) => {
  it(
    "stops everything that it claims to stop",
    async ({ skip }) => {
      if (!need.run) skip(need.reason);
      const report = await escape(backend, uid);
      expect(report.brokenPromises.map(({ id, detail }) => `${id}: ${detail}`)).toEqual([]);
      expect(report.strays).toEqual([]);
      if (isBarrier) expect(Object.values(report.claims)).toContain("enforced");
    },
    TIMEOUT_MS,
  );
});
