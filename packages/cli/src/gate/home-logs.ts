/**
 * The logs of a home when a gate starts: what earlier gates left open in them is ended, and while
 * the gate runs the oldest files of them go.
 */
import type { AuditLog } from "@acp/audit";
import { ConsentError } from "@acp/core";
import { readCheckpointKey } from "@acp/home";
import type { Home } from "@acp/home";
import { auditLogOptions } from "../logs/open-audit.js";
import type { AuditSettings } from "../logs/open-audit.js";
import type { Printer } from "../printer.js";
import type { Notices } from "./notices.js";
import { recoverOtherLogs } from "./other-logs.js";
import { keepRetention } from "./retention.js";

/** Parts of {@link lookAfterLogs}. */
export interface LogsParts {
  readonly home: Home;
  /** The log of this gate. */
  readonly audit: AuditLog;
  /** What it was opened with. */
  readonly settings: AuditSettings & Required<Pick<AuditSettings, "recover">>;
  readonly notices: Notices;
  readonly print: Printer;
}

/**
 * Says what was mended, ends what is open in other logs, and keeps to the retention until it is
 * disposed of.
 */
export async function lookAfterLogs({
  home,
  audit,
  settings,
  notices,
  print,
}: LogsParts): Promise<AsyncDisposable> {
  const sayEnded = (path: string, ended: number): void =>
    print.notice(
      `${path}: ${ended} questions, answers or calls that an earlier gate left open were ended`,
    );
  if (audit.recovered !== undefined)
    print.notice(`${audit.path}: a line that a crash had cut short was removed`);
  if (audit.ended > 0) sayEnded(audit.path, audit.ended);
  const optionsOf = await auditLogOptions(home, settings);
  await recoverOtherLogs({
    home,
    own: audit.path,
    recover: settings.recover,
    optionsOf,
    onEnded: sayEnded,
    onError: (path, message) => notices.tell("log_failed", `${path}: ${message}`),
  });
  return keepRetention({
    home,
    audit,
    retention: settings.config ?? {},
    optionsOf,
    onRemoved: (path, names) => print.notice(`${path}: removed as too old: ${names.join(", ")}`),
    onError: (error) =>
      notices.tell("log_failed", error instanceof Error ? error.message : String(error)),
  });
}

/**
 * Checkpoints that are wanted have to be signed: a witness that never hears anything would be
 * weaker than what is written.
 *
 * @throws ConsentError `config_invalid` where there is no key for them.
 */
export async function checkWitnesses(home: Home, { config }: AuditSettings): Promise<void> {
  if ((config?.witnesses ?? []).length === 0 || (await readCheckpointKey(home)) !== undefined)
    return;
  throw new ConsentError(
    "config_invalid",
    "Cannot start: audit.witnesses needs a key that signs checkpoints, and this home has none; run acp init",
  );
}
