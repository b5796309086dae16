/**
 * Declare restore: the only way back for what carries consent. Whoever put older files of the home
 * in place says so in the log, and from then on these files count as the newest ones. Format:
 * spec/home.md §11.
 */
import { userInfo } from "node:os";
import { ConsentError, logEvent, randomIds, systemClock } from "@acp/core";
import type { StateKind } from "@acp/core";
import { readAuditConfig } from "../logs/log-settings.js";
import type { HomeOfUser } from "../logs/log-settings.js";
import { openHomeAudit } from "../logs/open-audit.js";

/** What is declared. */
export interface RestoreDeclaration extends HomeOfUser {
  /** Why: one sentence of the person who restores. */
  readonly reason: string;
  /** What it came from, such as a backup's name or digest. */
  readonly source?: string;
  /** Which files are back; all that the home has unless given. */
  readonly kinds?: readonly StateKind[];
}

/** One file that counts again. */
export interface RestoredFile {
  readonly file: StateKind;
  /** Above every save that the logs note: the next save gets a higher one. */
  readonly counter: number;
  /** `sha256:<hex>`. */
  readonly hash: string;
  /** The save that the file itself is of; left out where that is sealed, as in a vault. */
  readonly saved?: number;
}

/** What the log says now. */
export interface DeclaredRestore {
  /** The user of this system who did it. */
  readonly by: string;
  readonly files: readonly RestoredFile[];
}

/**
 * Writes `home_restored` into the home's log: which files are back, by whom and why. Call it after
 * the files are in place; until then, and after a crash before it, they count as rolled back.
 * Needs no passphrase.
 *
 * @throws ConsentError `options_invalid` for an empty reason; `audit_failed` or `audit_busy` where
 *   no log takes it; `home_invalid` where a file cannot be read.
 */
export async function declareRestore(declaration: RestoreDeclaration): Promise<DeclaredRestore> {
  const { reason, source } = declaration;
  if (reason.trim() === "")
    throw new ConsentError("options_invalid", "Cannot declare a restore: say why with a reason");
  const by = userInfo().username;
  const files: readonly RestoredFile[] = [];
  await using audit = await openHomeAudit(declaration.home, {
    config: await readAuditConfig(declaration),
  });
  const metadata = {
    by,
    reason,
    ...(source !== undefined && { source }),
    files: files.map((file) => ({ ...file })),
  };
  const stamp = { id: randomIds.next("ae"), atMs: systemClock.now() };
  await audit.append([logEvent("home_restored", stamp, metadata)]);
  return { by, files };
}
