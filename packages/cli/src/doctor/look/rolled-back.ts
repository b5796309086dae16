/**
 * Examination of the files that carry consent: whether each is the newest one that the logs note.
 * What is wrong with a log, or with a file besides that, is said of it elsewhere.
 */
import { isConsentError } from "@acp/core";
import { readPrivateFile, readState, readVaultFile } from "@acp/home";
import { exists } from "../../home/exists.js";
import { readNotedStates } from "../../rollback/noted-states.js";
import type { NotedStates } from "../../rollback/noted-states.js";
import { checkVault, whyKeysOlder } from "../../rollback/sealed-files.js";
import { whyOlder } from "../../rollback/state-guard.js";
import type { DoctorContext } from "../context.js";
import type { Examination } from "../examination.js";
import { makeFound } from "../finding.js";
import type { Found } from "../finding.js";
import { setAside } from "../mend/set-aside.js";
import { isPrivateFile } from "./private.js";

/** The files that an older one may not take the place of. */
export const rolledBackExamination: Examination = {
  id: "rolled-back",
  looksAt: "Grants, passkeys, pins, keys and vault are the newest that the logs note",
  async look(context) {
    // Without their indexes logs are read whole.
    if (context.isQuick) return [];
    const noted = await readNotedStates(context.home).catch(() => undefined);
    if (noted === undefined) return [];
    const found = [
      await listed(context, "grants", noted),
      await listed(context, "passkeys", noted),
      await listed(context, "pins", noted),
      await keys(context, noted),
      await vault(context, noted),
    ];
    return found.flatMap((each) => each ?? []);
  },
};

const FILE_BYTES_MAX: number = 16 * 1024 * 1024;
const EFFECTS = {
  grants: "every earlier consent ends, and is asked for again",
  passkeys: "everyone creates their passkeys again in the inbox",
  pins: "every tool is seen for the first time again",
} as const;

async function listed(
  { home }: DoctorContext,
  kind: keyof typeof EFFECTS,
  noted: NotedStates,
): Promise<Found | undefined> {
  const path = {
    grants: home.grantsPath,
    passkeys: home.passkeysPath,
    pins: home.toolPinsPath,
  }[kind];
  // Removing grants ends them, and that is a way to do it.
  if (kind === "passkeys" && noted.get(kind) !== undefined && !(await exists(path)))
    return makeFound("passkeys_gone", { path, found: "The logs note passkeys, and it is gone" });
  if (!(await isPrivateFile(path))) return undefined;
  const text = await readPrivateFile(path, FILE_BYTES_MAX).catch(() => undefined);
  // A key that cannot be read is said by the examination of keys.
  const state = text === undefined ? undefined : await readState(path, text).catch(() => undefined);
  const why = state === undefined ? undefined : whyOlder(state, noted.get(kind));
  if (why === undefined) return undefined;
  return makeFound(`${kind}_rolled_back`, {
    path,
    found: `It does not count, because ${why}`,
    mend: {
      what: `set ${path} aside; ${EFFECTS[kind]}`,
      note: "before",
      run: () => setAside(home, path),
    },
  });
}

async function keys({ home }: DoctorContext, noted: NotedStates): Promise<Found | undefined> {
  const why = await whyKeysOlder(home, noted).catch(() => undefined);
  if (why === undefined) return undefined;
  const found = `They are not used, because ${why}`;
  return makeFound("keys_rolled_back", { path: home.publicKeyPath, found });
}

async function vault(context: DoctorContext, noted: NotedStates): Promise<Found | undefined> {
  const { home } = context;
  const opener = await context.keys();
  if (opener === undefined || opener instanceof Error) return undefined;
  const opened = await readVaultFile(home, opener).catch(() => undefined);
  if (opened === undefined) return undefined;
  try {
    checkVault(home, opened.mark, noted);
    return undefined;
  } catch (error) {
    if (!isConsentError(error, "vault_invalid")) throw error;
    return makeFound("vault_rolled_back", { path: home.vaultPath, found: error.message });
  }
}
