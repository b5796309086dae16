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

/** The files of a list, without the program itself and the preload. */
async function readLoaded(path: string): Promise<readonly string[]> {
  const paths = (await readFile(path, "utf8"))
    .trim()
    .split("\n")
    .filter((line) => line.startsWith("file:"))
    .map((url) => fileURLToPath(url));
  return [...new Set(paths)].filter(
    (each) => !each.includes("/test/fixtures/") && !each.endsWith("/bin/acp.cjs"),
  );
}

const scriptsOf = async (path: string): Promise<readonly string[]> =>
  (await readFile(path, "utf8")).split("\n").filter((line) => line.startsWith("script "));

const built = (name: string): string => fileURLToPath(new URL(`../dist/${name}`, import.meta.url));

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
    expect(files).toBeLessThanOrEqual(38); // 37: what entries share lies in files of its own
    expect(bytes).toBeLessThanOrEqual(440_000); // 425,000
  });

  it.skipIf(!NAMESPACE.run)(
    `is one file for acp run, which V8 compiles once ${NAMESPACE.reason}`,
    async () => {
      await using world = await runWorld();
      for (const name of ["first", "second"]) {
        const list = join(world.path, name);
        const { code } = await world.run(["/bin/true"], { env: noting(list) });
        expect(code).toBe(0);
        expect(await readLoaded(list)).toEqual([built("start-run.cjs")]);
        // An earlier test may have kept the code for the first.
        if (name === "second") expect(await scriptsOf(list)).toEqual(["script kept"]);
      }
      expect((await stat(built("start-run.cjs"))).size).toBeLessThanOrEqual(12_000); // 9,600
      // 4,202,700: an HTTP proxy and runs of the resident, gates alone that serve while an index is
      // made, verifying by an index, turns of clients, servers at an address and their headers, pins
      // of tools; 30,000 for signing in to servers, without what speaks OAuth; 25,000 for pages and
      // tasks of calls that wait for people; 10,000 for writes that answers share; 15,000 for turns of
      // what servers ask, rooms of agents, and sign-ins in a status; 25,000 for pins of
      // prompts and resources, and hidden tools.
      expect((await stat(built("program.cjs"))).size).toBeLessThanOrEqual(4_365_000);
    },
  );
});
