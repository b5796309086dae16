/** `acp restore`: a home from a backup, after everything was checked and shown. */
import { resolve } from "node:path";
import { ConsentError, escapeText, isoTime, quoteText, systemClock } from "@acp/core";
import { readBackupUnlock } from "../backup/backup-unlock.js";
import { openBackup } from "../backup/read-backup.js";
import { checkBackup, checkTarget, restoreHome } from "../backup/restore-home.js";
import type { Checked, RestorePlan } from "../backup/restore-home.js";
import { settleSwap } from "../backup/swap.js";
import type { Settled } from "../backup/swap.js";
import { askYes } from "../ask-yes.js";
import type { Invocation, Run } from "../command.js";
import type { Exit } from "../exit-codes.js";
import { exists } from "../home/exists.js";
import { ownHomePath } from "../home/home-source.js";
import { createPercent } from "../percent.js";
import { fileOf } from "./backup.js";

/** Runs the command. */
export const restore: Run = async (invocation) => {
  const { io, flags, values, print } = invocation;
  const file = resolve(io.cwd, fileOf(invocation, "restore"));
  const current = ownHomePath(invocation);
  const isDry = flags.has("dry-run");
  if (!isDry && !flags.has("yes") && !io.stdin.isTTY)
    throw new ConsentError(
      "options_invalid",
      "Cannot ask you what may come back: standard input is not a terminal; look at it with --dry-run, and agree with --yes",
    );
  const settled = isDry ? undefined : await settleSwap(current);
  if (settled !== undefined) return saySettled(settled, invocation);
  const target = values.to === undefined ? current : resolve(io.cwd, values.to);
  if (values.to !== undefined && (await exists(target)))
    throw new ConsentError(
      "options_invalid",
      `Cannot restore to ${quoteText(target)}: it exists already; --to names a new directory`,
    );
  const isReplaced = await checkTarget(target);
  await using backup = await openBackup(file);
  const percent = createPercent(invocation);
  const plan: RestorePlan = {
    backup,
    unlock: await readBackupUnlock(backup.kind, invocation),
    target,
    current,
    io,
    hasLogs: !flags.has("without-logs"),
    nowMs: systemClock.now(),
    onProgress: percent.show,
  };
  const checked = await checkBackup(plan).finally(percent.clear);
  const described = describe(plan, checked, isReplaced);
  if (isDry) {
    print.result(resultOf(plan, checked, {}), () => described);
    return "ok";
  }
  if (!flags.has("yes")) {
    for (const line of described) io.stderr.write(`${line}\n`);
    if (!(await askYes(io, "Restore it, with all of this?"))) return refused(invocation);
  }
  const restored = await restoreHome(plan, checked).finally(percent.clear);
  print.result(resultOf(plan, checked, { restored }), () => [
    ...(flags.has("yes") ? described : []),
    `${print.tone("green", "restored")} ${escapeText(restored.home)}`,
    ...(restored.replaced === undefined
      ? []
      : [`The home that was there is now ${escapeText(restored.replaced)}`]),
    "Run acp doctor before you start your clients again.",
  ]);
  return "ok";
};

function refused({ print }: Invocation): Exit {
  print.notice("Nothing was changed");
  return "failed";
}

/** What an interrupted restore or move came to: nothing else is done in the same run. */
export function saySettled({ plan, end }: Settled, { print }: Invocation): Exit {
  const { kind, target, aside, home } = plan;
  print.result({ settled: { ...plan, end } }, () => [
    end === "done"
      ? `The ${kind} that was interrupted is finished: the home is ${escapeText(target)}, and the one before is ${escapeText(aside)}`
      : `The ${kind} that was interrupted had changed nothing: the home is ${escapeText(home)}`,
    "Run the command again to begin another one.",
  ]);
  return "ok";
}

function describe(
  { backup, target, hasLogs }: RestorePlan,
  { facts, files, bytes, back, isCompared }: Checked,
  isReplaced: boolean,
): readonly string[] {
  const logs = facts.has_logs && hasLogs ? "" : ", without audit logs";
  const compared = isCompared
    ? "These ended since, and would count again:"
    : `There is no home here to compare with. What was revoked after ${isoTime(facts.created_at_ms)} would count again:`;
  return [
    `Backup of ${facts.home}, made at ${isoTime(facts.created_at_ms)} by acp ${facts.acp}: ${files} files, ${bytes} bytes${logs}, ${backup.id}`,
    `It would be restored to ${target}${isReplaced ? "; the home that is there would be kept beside it" : ""}`,
    ...(isCompared && back.length === 0
      ? ["No consent that ended since would count again."]
      : [compared, ...(back.length === 0 ? ["  nothing"] : back.map(({ text }) => `  ${text}`))]),
    "Open questions are not in a backup, nor are the homes of agents and servers and kept reviews.",
  ].map((line) => escapeText(line));
}

function resultOf(
  { backup, target }: RestorePlan,
  { facts, files, bytes, back, isCompared }: Checked,
  { restored }: { readonly restored?: { readonly replaced?: string } },
): object {
  return {
    is_restored: restored !== undefined,
    home: target,
    ...(restored?.replaced !== undefined && { replaced: restored.replaced }),
    backup: { id: backup.id, home: facts.home, created_at: isoTime(facts.created_at_ms) },
    files,
    bytes,
    is_compared: isCompared,
    came_back: back,
  };
}
