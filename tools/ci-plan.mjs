// What .ci/run does for what changed: `node tools/ci-plan.mjs only|searches|plain` prints test
// files or folders, one a line, and on stderr why; `base` prints the commit that it compares with. `ACP_CI_BASE` names the commit to compare with.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isIn, toLookAt } from "./changed.mjs";
import { deepPlan } from "./lanes.mjs";
import { gitFiles, root } from "./workspace.mjs";

/** CPU seconds for the deep lane, where nobody asked for all of it (`ACP_CI_DEEP=1`). */
const DEEP_CPU_S = 240;

/** So many files that are left out are named, the dearest first. */
const NAMED = 10;

/**
 * What a user without rights can change: who starts a sandbox, and what that user may read. The
 * rest of the tests have run as root or as somebody else, and say the same to anybody.
 */
const PLAIN = [
  "packages/sandbox-linux/",
  "packages/cli/test/run",
  "packages/exec-approval/test/trial",
  "examples/sandboxed-agent/",
];

/** @param {string | undefined} base @param {readonly string[] | undefined} folders */
function reachText(base, folders) {
  if (folders !== undefined) return `since ${base}: ${folders.join(", ") || "nothing with tests"}`;
  return base === undefined
    ? "nothing names a base (ACP_CI_BASE, origin/main): everything counts as changed"
    : `since ${base}: what everything depends on, or what git cannot compare`;
}

/**
 * @param {string} what - `base`, `only` for files that only the deep lane runs, `searches` for those that
 *   search further with `ACP_DEEP=1`, or `plain`.
 * @param {{
 *   base: string | undefined,
 *   folders: readonly string[] | undefined,
 *   files?: readonly string[] | undefined,
 * }} change
 * @param {boolean} isAllDeep
 * @returns {{ run: readonly string[], why: readonly string[] }}
 */
export function ciPlan(what, { base, folders, files: changed }, isAllDeep) {
  const why = [`Changed ${reachText(base, folders)}`];
  if (what === "base") return { run: base === undefined ? [] : [base], why };
  if (what === "plain") return { run: PLAIN.filter((path) => isIn(folders, path)), why };
  if (what !== "only" && what !== "searches")
    throw new Error(`Cannot plan "${what}": there are base, only, searches and plain`);
  const tests = gitFiles().filter((file) => file.endsWith(".test.ts"));
  const textOf = (/** @type {string} */ file) => readFileSync(join(root, file), "utf8");
  const budgetS = isAllDeep ? Infinity : DEEP_CPU_S;
  const { over, cpuS, ...plan } = deepPlan(tests, textOf, { folders, changed, budgetS });
  const files = plan.only.length + plan.searches.length;
  why.push(`Deep lane: ${files} files, some ${cpuS} CPU seconds of at most ${budgetS}`);
  if (over.length > 0) {
    const named = over.toReversed().slice(0, NAMED).join(", ");
    const more = over.length > NAMED ? `, and ${over.length - NAMED} more` : "";
    why.push(`Beyond that, left to npm run test:deep or ACP_CI_DEEP=1: ${named}${more}`);
  }
  return { run: plan[what], why };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const change = toLookAt(process.env["ACP_CI_BASE"]);
  const { run, why } = ciPlan(process.argv[2] ?? "", change, process.env["ACP_CI_DEEP"] === "1");
  process.stderr.write(`${why.join("\n")}\n`);
  process.stdout.write(run.map((line) => `${line}\n`).join(""));
}
