import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { DearFirst } from "./tools/dear-first.js";
import { isDeep } from "./tools/deep.js";
import { leftOut } from "./tools/lanes.mjs";
import { sharedTests } from "./tools/shared-tests.js";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const TESTS = [
  "packages/*/{src,test}/**/*.test.ts",
  "tools/**/*.test.ts",
  "examples/*/**/*.test.ts",
];
/** Files of the deep lane alone; tools/test.mjs says which tests somebody named. */
const slow = isDeep ? [] : leftOut(process.env["ACP_NAMED_TESTS"]?.split("\n") ?? []);
const shared = sharedTests(at(".")).filter((file) => !slow.includes(file));

// Tests read the sources, so they need no build: every @acp/* name points into packages/*/src.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^fast-check$/, replacement: at("tools/fast-check.ts") },
      { find: "#crypto", replacement: at("packages/core/src/crypto/node.ts") },
      { find: /^@acp\/([a-z-]+)$/, replacement: at("packages/$1/src/index.ts") },
      { find: /^@acp\/([a-z-]+)\/([a-z-]+)$/, replacement: at("packages/$1/src/$2.ts") },
    ],
  },
  test: {
    // In the order of their names: what takes long begins first, and many short files fill the end.
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          include: shared,
          isolate: false,
          setupFiles: [at("tools/file-cost.ts"), at("tools/shared-traces.ts")],
        },
      },
      {
        extends: true,
        test: {
          name: "alone",
          setupFiles: [at("tools/file-cost.ts")],
          include: TESTS,
          exclude: [...configDefaults.exclude, ...shared, ...slow],
          typecheck: {
            // Not in the quick lane: the check `typecheck` compiles the same files.
            enabled: isDeep,
            include: ["packages/*/{src,test}/**/*.test-d.ts"],
            checker: at("node_modules/typescript7/bin/tsc"),
            // Only the type tests count here; the rest of the code is checked by `npm run check`.
            ignoreSourceErrors: true,
          },
        },
      },
    ],
    // No test decides by the clock on the wall: machines stall. This only ends what hangs, and a
    // test sets no limit of its own below it (tools/limits.test.ts).
    testTimeout: isDeep ? 3_600_000 : 900_000,
    hookTimeout: 900_000,
    teardownTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // What Vite makes of each source, kept by its text, its place and this configuration: a run
    // translates only what changed. Results of tests are never kept.
    experimental: { fsModuleCache: true, fsModuleCachePath: at("node_modules/.vite/modules") },
    sequence: { sequencer: DearFirst },
    // Most of the time tests wait for processes and disks: with one worker a core, half of a
    // machine is idle.
    maxWorkers: availableParallelism() + 2,
  },
});
