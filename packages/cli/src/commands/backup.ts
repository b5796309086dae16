/** `acp backup`: the home in one sealed file, also while gates run. */
import { resolve } from "node:path";
import { ConsentError, escapeText, systemClock } from "@acp/core";
import { chooseBackupUnlock } from "../backup/backup-unlock.js";
import { writeBackup } from "../backup/write-backup.js";
import type { Invocation, Run } from "../command.js";
import { homeOf } from "../home/home-source.js";
import { installedVersions } from "../installed-versions.js";
import { createPercent } from "../percent.js";

/** Runs the command. */
export const backup: Run = async (invocation) => {
  const { io, flags, print } = invocation;
  const file = resolve(io.cwd, fileOf(invocation, "backup"));
  const { dir } = await homeOf(invocation);
  const unlock = await chooseBackupUnlock(dir, invocation);
  const percent = createPercent(invocation);
  const hasLogs = !flags.has("without-logs");
  const written = await writeBackup({
    dir,
    file,
    hasLogs,
    unlock,
    acp: installedVersions().get("cli") ?? "",
    nowMs: systemClock.now(),
    onProgress: percent.show,
  }).finally(percent.clear);
  for (const path of written.passed_over)
    print.notice(`${escapeText(path)} is a link or no plain file, and is not in the backup`);
  const logs = hasLogs ? "" : ", without audit logs";
  print.result({ ...written, has_logs: hasLogs, sealed_with: unlock.kind }, () => [
    `${print.tone("green", "written")} ${escapeText(file)}: ${written.entries} files and folders, ${written.bytes} bytes${logs}`,
    `It opens with the ${unlock.kind === "passphrase" ? "passphrase" : "key file"} only. It was read again and is complete.`,
  ]);
  return "ok";
};

/** The backup that a command line names. */
export function fileOf({ operands: [file] }: Invocation, command: string): string {
  if (file !== undefined && file !== "") return file;
  throw new ConsentError(
    "options_invalid",
    `Cannot continue: name the file of the backup, acp ${command} FILE`,
  );
}
