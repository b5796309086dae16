/**
 * Declare restore: the only way back for what carries consent. Whoever put older files of the home
 * in place says so in the log, and from then on these files count as the newest ones. Format:
 * spec/home.md §11.
 */
import { userInfo } from "node:os";
import { ConsentError, logEvent, randomIds, systemClock } from "@acp/core";
import type { JsonObject } from "@acp/core";
import { vaultMark } from "@acp/core/vault";
import { STATE_KINDS } from "@acp/core/unstable";
import type { StateKind } from "@acp/core/unstable";
import { readPrivateFile, readPublicKeys, readState, whileWriting } from "@acp/home";
import type { HomePaths } from "@acp/home";
import { exists } from "../home/exists.js";
import { readAuditConfig } from "../logs/log-settings.js";
import type { HomeOfUser } from "../logs/log-settings.js";
import { openHomeAudit } from "../logs/open-audit.js";
import { readNotedStates } from "./noted-states.js";
import { keysMark } from "./sealed-files.js";

/** What is declared. */
export interface RestoreDeclaration extends HomeOfUser {
  /** Why: one sentence of the person who restores. */
  readonly reason: string;
  /** What it came from, such as a backup's name or digest. */
  readonly source?: string;
  /** Which files are back; all that the home has unless given. */
  readonly kinds?: readonly StateKind[];
  /** The home that this one replaces: what its logs note is older from now on, too. */
  readonly replaced?: Pick<HomePaths, "dir" | "keysDir">;
  /** What else the event says. */
  readonly more?: JsonObject;
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

const FILE_BYTES_MAX: number = 16 * 1024 * 1024;

/**
 * Writes `home_restored` into the home's log: which files are back, by whom and why. Call it after
 * the files are in place; until then, and after a crash before it, they count as rolled back.
 * Needs no passphrase.
 *
 * @throws ConsentError `options_invalid` for an empty reason, or where none of the files is there;
 *   `audit_failed` or `audit_busy` where no log takes it; `home_invalid` where a file cannot be
 *   read.
 */
export async function declareRestore(declaration: RestoreDeclaration): Promise<DeclaredRestore> {
  const { home, reason, source, kinds = STATE_KINDS, replaced, more = {} } = declaration;
  if (reason.trim() === "")
    throw new ConsentError("options_invalid", "Cannot declare a restore: give a reason");
  const by = userName();
  await using audit = await openHomeAudit(home, { config: await readAuditConfig(declaration) });
  // Nobody saves meanwhile: what is declared is what is there.
  return await whileWriting(home.dir, async () => {
    const noted = await readNotedStates(home);
    // A home whose logs cannot be read may be why another one takes its place.
    const before =
      replaced === undefined ? noted : await readNotedStates(replaced).catch(() => noted);
    const files: RestoredFile[] = [];
    for (const file of kinds) {
      const found = await fileOf(home, file);
      const last = Math.max(...[noted, before].map((each) => each.get(file)?.counter ?? 0));
      if (found !== undefined)
        files.push({ file, counter: Math.max(last, found.saved ?? 0) + 1, ...found });
    }
    if (files.length === 0)
      throw new ConsentError(
        "options_invalid",
        `Cannot declare a restore of ${kinds.join(", ")}: the home has no such file`,
      );
    const said = { ...more, by, reason, ...(source !== undefined && { source }) };
    const metadata = { ...said, files: files.map((file) => ({ ...file })) };
    const stamp = { id: randomIds.next("ae"), atMs: systemClock.now() };
    await audit.append([logEvent("home_restored", stamp, metadata)]);
    return { by, files };
  });
}

/** A user without an entry in the system's list has a number. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown");
  }
}

async function fileOf(
  home: HomePaths,
  file: StateKind,
): Promise<Pick<RestoredFile, "hash" | "saved"> | undefined> {
  if (file === "keys") {
    if (!(await exists(home.publicKeyPath))) return undefined;
    const { hash, counter: saved } = keysMark(await readPublicKeys(home));
    return { hash, saved };
  }
  const path = {
    grants: home.grantsPath,
    passkeys: home.passkeysPath,
    pins: home.toolPinsPath,
    vault: home.vaultPath,
  }[file];
  if (!(await exists(path))) return undefined;
  const text = await readPrivateFile(path, FILE_BYTES_MAX);
  if (file === "vault") return { hash: vaultMark(0, text).hash };
  const state = await readState(path, text);
  if (state === undefined)
    throw new ConsentError(
      "home_invalid",
      `Cannot declare a restore: "${path}" is not a file that acp writes`,
    );
  return { hash: state.hash, ...(state.isSealed && { saved: state.counter }) };
}
