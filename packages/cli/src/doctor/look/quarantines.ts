/** Logs that were set aside: finished, there, and unchanged. */
import { join } from "node:path";
import type { DoctorContext } from "../context.js";
import { makeFound } from "../finding.js";
import type { Found } from "../finding.js";
import { finishQuarantine } from "../mend/quarantine-log.js";
import { readPlans } from "../mend/quarantine-plan.js";
import type { QuarantinePlan } from "../mend/quarantine-plan.js";
import { listQuarantines } from "../mend/quarantines.js";

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
