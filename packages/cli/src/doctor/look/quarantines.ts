/** Logs that were set aside: finished, there, and unchanged. */
import { join } from "node:path";
import type { DoctorContext } from "../context.js";
import { makeFound } from "../finding.js";
import type { Found } from "../finding.js";
import { readdir } from "node:fs/promises";
import { exists } from "../../home/exists.js";
import { logSeamsPath, seamsOf } from "../../logs/log-seams.js";
import { finishedPlans, finishQuarantine, rewriteSeams } from "../mend/quarantine-log.js";
import { planPath, readPlans } from "../mend/quarantine-plan.js";
import type { QuarantinePlan } from "../mend/quarantine-plan.js";
import { listQuarantines } from "../mend/quarantines.js";
import { quarantinePath } from "../mend/set-aside.js";

/** What is wrong with logs that were set aside. */
export async function quarantineFound(
  context: DoctorContext,
  verifierKey: string | undefined,
): Promise<readonly Found[]> {
  const { home, isQuick } = context;
  const plans = await readPlans(home);
  const { all, broken } = await listQuarantines(home, verifierKey, isQuick);
  return [
    ...plans.filter(({ isDone }) => !isDone).map((plan) => unfinished(context, plan)),
    ...(verifierKey === undefined ? [] : await seamsMissing(context, plans)),
    ...(await plansBroken(context, plans)),
    ...broken.map(({ path, reason }) => makeFound("seam_broken", { path, found: reason })),
    ...all
      .flatMap(({ files }) => files)
      .flatMap(({ path, state, bytes, hash }) => {
        if (state === "kept") return [];
        if (state === "gone")
          return [makeFound("quarantine_gone", { path, found: "The file is not there" })];
        const found = `It is not the file of ${bytes} bytes and ${hash} anymore`;
        return [makeFound("quarantine_changed", { path, found })];
      }),
  ];
}

/** Without its seams a log has the name of an older one, and its checkpoints seem to be foreign. */
async function seamsMissing(
  { home }: DoctorContext,
  plans: readonly QuarantinePlan[],
): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (const log of new Set(plans.filter(({ isDone }) => isDone).map((plan) => plan.log))) {
    const path = join(home.dir, log);
    const count = await seamsOf(path).catch(() => 0);
    const newest = Math.max(...plans.filter((plan) => plan.log === log).map(({ seams }) => seams));
    if (count > newest) continue;
    const text = `It names ${count} of the ${newest + 1} logs that were set aside`;
    const isWhole = await finishedPlans(home, path).then(
      () => true,
      () => false,
    );
    const mend = {
      what: `write ${logSeamsPath(path)} again, by what was set aside`,
      note: "after",
      run: () => rewriteSeams(home, path),
    } as const;
    found.push(
      makeFound("seams_missing", {
        path: logSeamsPath(path),
        found: text,
        ...(isWhole && { mend }),
      }),
    );
  }
  return found;
}

/** What is set aside of a log has a plan that says what it is. */
async function plansBroken(
  { home }: DoctorContext,
  plans: readonly QuarantinePlan[],
): Promise<readonly Found[]> {
  const entries = await readdir(quarantinePath(home), { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const known = new Set(plans.map(({ folder }) => join(home.dir, folder)));
  const found: Found[] = [];
  for (const name of names) {
    const folder = join(quarantinePath(home), name);
    const log = join(folder, name.replace(/\.\d+$/, ""));
    if (!known.has(folder) && ((await exists(planPath(folder))) || (await exists(log))))
      found.push(
        makeFound("quarantine_changed", {
          path: planPath(folder),
          found: "It does not say what was set aside",
        }),
      );
  }
  return found;
}

function unfinished({ home }: DoctorContext, plan: QuarantinePlan): Found {
  const path = join(home.dir, plan.log);
  return makeFound("quarantine_unfinished", {
    path,
    found: `It is being set aside in ${plan.folder}: ${plan.message}`,
    mend: {
      what: `finish setting ${path} aside`,
      note: "own",
      run: () => finishQuarantine(home, path),
    },
  });
}
