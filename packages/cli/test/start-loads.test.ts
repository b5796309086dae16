/**
 * What a start loads. Finding, reading and compiling modules is most of what `acp run` takes before
 * its command begins: an import that only one command needs, or a library in many files, is felt at
 * each start. Whoever means to load more changes the numbers here, and says why.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { startAcp } from "./harness.js";
import { httpWorld } from "./http-world.js";
import { needSandbox, runWorld } from "./run-world.js";

const PRELOAD = new URL("fixtures/note-loaded.mjs", import.meta.url);
const NAMESPACE = needSandbox("namespace");

interface Loaded {
  readonly packages: readonly string[];
  readonly files: number;
  readonly bytes: number;
}

/** Variables of a process that writes down what it loads. */
const noting = (path: string): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=${PRELOAD.href}`,
  LOADED_TO: path,
});

/** The modules of a list, without the program itself and the preload. */
async function readLoaded(path: string): Promise<readonly string[]> {
  const paths = (await readFile(path, "utf8"))
    .trim()
    .split("\n")
    .map((url) => fileURLToPath(url));
  return paths.filter(
    (each) => !each.includes("/test/fixtures/") && !each.endsWith("/bin/acp.cjs"),
  );
}

async function sumUp(paths: readonly string[]): Promise<Loaded> {
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
  const packages = new Set(
    paths.map(
      (path) =>
        /\/(?:packages|node_modules)\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/.exec(
          path,
        )?.[1] ?? path,
    ),
  );
  return {
    packages: [...packages].sort(),
    files: paths.length,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
  };
}

describe("what a start loads", () => {
  it("is core and the table of commands for acp --version", async () => {
    await using world = await httpWorld();
    const list = join(world.path, "loaded");
    const { code } = await startAcp(["--version"], {
      home: world.home,
      env: noting(list),
      input: "",
    }).ended;
    expect(code).toBe(0);
    const { packages, files, bytes } = await sumUp(await readLoaded(list));
    expect(packages).toEqual(["cli", "core", "exec-safety"]);
    expect(files).toBeLessThanOrEqual(30); // 27
    expect(bytes).toBeLessThanOrEqual(420_000); // 372,000
  });

  it.skipIf(!NAMESPACE.run)(
    `is little for acp run before its sandbox is made, and no library of others at all ${NAMESPACE.reason}`,
    async () => {
      await using world = await runWorld();
      const list = join(world.path, "loaded");
      const { code } = await world.run(["/bin/true"], { env: noting(list) });
      expect(code).toBe(0);
      const all = await readLoaded(list);
      // The gate is loaded while the sandbox is made.
      const before = await sumUp(
        all.slice(
          0,
          all.findIndex((path) => path.includes("/run-under-gate-")),
        ),
      );
      const whole = await sumUp(all);
      expect(before.packages).toEqual([
        "cli",
        "core",
        "exec-safety",
        "home",
        "host",
        "sandbox-linux",
      ]);
      expect(before.files).toBeLessThanOrEqual(54); // 49
      expect(before.bytes).toBeLessThanOrEqual(1_200_000); // 1,096,000
      expect(whole.packages).toEqual([
        "audit",
        "channel-terminal",
        "cli",
        "core",
        "exec-safety",
        "home",
        "host",
        "proxy-http",
        "proxy-mcp",
        "sandbox-linux",
      ]);
      expect(whole.files).toBeLessThanOrEqual(78); // 72
      expect(whole.bytes).toBeLessThanOrEqual(1_750_000); // 1,592,000
    },
  );
});
