// Runs the tests that a Node version can change on the other supported ones, each from the npm
// package `node`: `node tools/matrix.mjs [22 24]`. Without arguments the newest runs those that a
// change reaches, and the one between it and the oldest, which `npm test` runs on, a part of them;
// a named one runs all.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isIn, toLookAt } from "./changed.mjs";
import { nodeTests, testsBetween } from "./node-tests.mjs";
import { capture, gitFiles, root } from "./workspace.mjs";

const [BETWEEN, NEWEST] = ["22", "24"];
const all = nodeTests(gitFiles(), (file) =>
  existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : undefined,
);

const asked = process.argv.slice(2);
const isWanted = asked.length > 0 ? () => true : wanted();

/** What a change reaches: in whichever lane, because the list is short. */
function wanted() {
  const { folders } = toLookAt(process.env["ACP_CI_BASE"]);
  return (/** @type {string} */ file) => isIn(folders, file);
}

const summary = [];
let isGreen = true;
for (const version of asked.length === 0 ? [BETWEEN, NEWEST] : asked) {
  const start = Date.now();
  const chosen = asked.length === 0 && version === BETWEEN ? testsBetween(all) : all;
  const tests = chosen.filter(isWanted);
  if (tests.length === 0) {
    summary.push(`✓ Node ${version}: no test that the change reaches`);
    continue;
  }
  const args = ["--yes", "-p", `node@${version}`, "node", "tools/test.mjs", "--retry=1", ...tests];
  const { status, output } = await capture("npx", args);
  const counts = /^\d+ passed, \d+ failed, \d+ skipped$/m.exec(output)?.[0];
  const isPassed = status === 0 && counts !== undefined;
  if (!isPassed) console.log(output);
  summary.push(
    `${isPassed ? "✓" : "✗"} Node ${version}: ${counts ?? "did not run"} (${((Date.now() - start) / 1000).toFixed(0)} s)`,
  );
  isGreen &&= isPassed;
}
console.log(summary.join("\n"));
process.exitCode = isGreen ? 0 : 1;
