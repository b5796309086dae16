/**
 * All static checks: `npm run check`; `npm run check -- layers size` runs some; `-- --update`
 * rewrites what can be generated.
 */
import { availableParallelism } from "node:os";
import { apiReport } from "./checks/api-report.js";
import { changesets } from "./checks/changesets.js";
import type { Check, Findings } from "./checks/check.js";
import { circles } from "./checks/circles.js";
import { corePurity } from "./checks/core-purity.js";
import { denyCodes } from "./checks/deny-codes.js";
import { entryCost } from "./checks/entry-cost.js";
import { format } from "./checks/format.js";
import { layers } from "./checks/layers.js";
import { links } from "./checks/links.js";
import { lint } from "./checks/lint.js";
import { manifests } from "./checks/manifests.js";
import { packageShape } from "./checks/package-shape.js";
import { prose } from "./checks/prose.js";
import { publicDocs } from "./checks/public-docs.js";
import { size } from "./checks/size.js";
import { snippets } from "./checks/snippets.js";
import { starts } from "./checks/starts.js";
import { trackedText } from "./checks/tracked-text.js";
import { typecheck } from "./checks/typecheck.js";
import { unused } from "./checks/unused.js";
import { vectors } from "./checks/vectors.js";
import { workflows } from "./checks/workflows.js";
import { root } from "./workspace.mjs";

const CHECKS: readonly Check[] = [
  // What takes longest begins first.
  packageShape,
  apiReport,
  typecheck,
  snippets,
  lint,
  format,
  size,
  unused,
  layers,
  circles,
  corePurity,
  starts,
  publicDocs,
  denyCodes,
  vectors,
  links,
  prose,
  trackedText,
  manifests,
  workflows,
  changesets,
  entryCost,
];

/** What a check found; one that throws has found that. */
async function findingsOf(check: Check, update: boolean): Promise<Findings> {
  try {
    return await check.run({ root, update });
  } catch (error) {
    return { problems: [`cannot run: ${error instanceof Error ? error.message : String(error)}`] };
  }
}

/** Runs one check and prints what it found; true when nothing is wrong. */
async function isClean(check: Check, update: boolean): Promise<boolean> {
  const start = Date.now();
  const { problems, notes = [] } = await findingsOf(check, update);
  const seconds = ((Date.now() - start) / 1000).toFixed(1);
  console.log(
    problems.length === 0
      ? `✓ ${check.name} (${seconds} s)`
      : `✗ ${check.name}: ${problems.length} (${seconds} s)`,
  );
  for (const line of problems) console.log(`    ${line.replaceAll("\n", "\n    ")}`);
  for (const line of notes) console.log(`  · ${line}`);
  if (problems.length > 0) console.log(`  → ${check.remedy}`);
  return problems.length === 0;
}

const args = process.argv.slice(2);
const update = args.includes("--update");
const names = args.filter((arg) => arg !== "--update").map((name) => name.replaceAll("-", " "));
const chosen = CHECKS.filter(({ name }) => names.length === 0 || names.includes(name));
if (chosen.length === 0)
  throw new Error(
    `Cannot check "${names.join(", ")}": there are ${CHECKS.map(({ name }) => name).join(", ")}`,
  );

let failed = 0;
// Most checks are programs of their own: as many side by side as there are cores. What one writes
// another would read half written, so with `--update` one follows the other.
const queue = chosen.values();
const worker = async (): Promise<void> => {
  for (const check of queue) if (!(await isClean(check, update))) failed += 1;
};
await Promise.all(Array.from({ length: update ? 1 : availableParallelism() }, worker));
console.log(`\n${chosen.length - failed} checks passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
