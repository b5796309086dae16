/** Logs that were set aside: finished, there, and unchanged. */
import { lstat } from "node:fs/promises";
import { basename, join } from "node:path";
import { isConsentError } from "@acp/core";
import { listAuditFiles } from "../../logs/log-files.js";
import { readSeams, seamsPath } from "../../logs/seams.js";
import type { Seam } from "../../logs/seams.js";
import { asError } from "../context.js";
import type { DoctorContext } from "../context.js";
import { makeFound } from "../finding.js";
import type { Found } from "../finding.js";
import { hashFile } from "../mend/hash-file.js";
import { quarantineLog } from "../mend/quarantine-log.js";
import { readPlans } from "../mend/quarantine-plan.js";
import type { QuarantinePlan } from "../mend/quarantine-plan.js";

/** What is wrong with logs that were set aside. */
export async function quarantineFound(
  context: DoctorContext,
  verifierKey: string | undefined,
): Promise<readonly Found[]> {
  const { home } = context;
  const plans = await readPlans(home);
  const found = plans.filter(({ isDone }) => !isDone).map((plan) => unfinished(context, plan));
  const signed = new Map<string, Seam>();
  for (const path of verifierKey === undefined ? [] : await listAuditFiles(home.dir))
    try {
      for (const opened of await readSeams(path, verifierKey ?? ""))
        if (opened.ok) signed.set(opened.seam.folder, opened.seam);
        else found.push(makeFound("seam_broken", { path: seamsPath(path), found: opened.reason }));
    } catch (error) {
      if (!isConsentError(error)) throw error;
      found.push(makeFound("seam_broken", { path: seamsPath(path), found: error.message }));
    }
  // What is signed counts; a plan says it in a home without a key.
  const all = new Map<string, Seam>([
    ...plans.filter(({ isDone }) => isDone).map((plan) => [plan.folder, plan] as const),
    ...[...signed].filter(([folder]) => !plans.some((p) => p.folder === folder && !p.isDone)),
  ]);
  for (const seam of all.values()) found.push(...(await seamFound(context, seam)));
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
      run: () => quarantineLog(home, path, plan),
    },
  });
}

async function seamFound({ home, isQuick }: DoctorContext, seam: Seam): Promise<readonly Found[]> {
  const folder = join(home.dir, "quarantined", basename(seam.folder));
  const found: Found[] = [];
  for (const { name, bytes, hash } of seam.files) {
    const path = join(folder, basename(name));
    const stats = await lstat(path).catch(() => undefined);
    if (stats === undefined) {
      found.push(makeFound("quarantine_gone", { path, found: "The file is not there" }));
      continue;
    }
    const is = isQuick
      ? { bytes: stats.size, hash }
      : await hashFile(path).catch((error: unknown) => ({
          bytes: -1,
          hash: asError(error).message,
        }));
    if (is.bytes !== bytes || is.hash !== hash)
      found.push(
        makeFound("quarantine_changed", {
          path,
          found: `It has ${is.bytes} bytes and ${is.hash}, and had ${bytes} and ${hash}`,
        }),
      );
  }
  return found;
}
