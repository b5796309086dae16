// Runs every test and ends with one plain line over all of them: "N passed, N failed, N skipped".
// Arguments go to Vitest: `npm test -- packages/core`, `npm test -- -t "actionDigest"`. A file of the
// deep lane that somebody names runs in the quick one, too.
import { relative } from "node:path";
import { parseCLI, startVitest } from "vitest/node";
import { familyCpuMs } from "./family-cpu.mjs";
import { leftOut } from "./lanes.mjs";
import { slowest } from "./slowest.mjs";
import { tally } from "./tally.mjs";
import { root } from "./workspace.mjs";

const { filter, options } = parseCLI(["vitest", "run", ...process.argv.slice(2)]);
process.env["ACP_NAMED_TESTS"] = filter.join("\n");
const vitest = await startVitest("test", filter, {
  ...options,
  watch: false,
  allowOnly: false,
  passWithNoTests: true,
});
const modules = vitest.state.getTestModules().map((module) => ({
  file: relative(root, module.moduleId),
  brokenBy: module.errors().map((error) => error.message),
  tests: [...module.children.allTests()].map((test) => {
    const result = test.result();
    return {
      name: test.fullName,
      state: result.state,
      note: "note" in result ? result.note : undefined,
      error: result.errors?.[0]?.message,
      isUnsteady: test.diagnostic()?.flaky,
    };
  }),
}));
const files = vitest.state.getFiles().map(({ filepath, result, meta }) => ({
  file: relative(root, filepath),
  ms: result?.duration ?? 0,
  cpuMs: meta.cpuMs,
}));
const strays = vitest.state.getUnhandledErrors().length;
await vitest.close();

const { lines, isGreen } = tally(modules, {
  strays,
  isFiltered: options.testNamePattern !== undefined,
});
const cpuMs = familyCpuMs();
const cost = cpuMs === undefined ? [] : [`CPU time: ${Math.round(cpuMs / 1_000)} s`];
const slow = process.env["ACP_DEEP"] === "1" || filter.length > 0 ? [] : leftOut(filter);
const rest =
  slow.length === 0 ? [] : [`left to npm run test:deep: ${slow.length} files (tools/lanes.mjs)`];
console.log(`\n${[...slowest(files), ...cost, ...rest].join("\n")}`);
console.log(`\n${lines.join("\n")}`);
process.exit(isGreen ? 0 : 1);
