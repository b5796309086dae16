/** Examination of the passkeys: a file that cannot be read means that no passkey counts. */
import { asError } from "@acp/core";
import { parsePasskeys, readPrivateFile } from "@acp/home";
import type { DoctorContext } from "../context.js";
import type { Examination } from "../examination.js";
import { makeFound } from "../finding.js";
import type { Found } from "../finding.js";
import { setAside } from "../mend/set-aside.js";
import { isPrivateFile } from "./private.js";

/** The passkeys. */
export const passkeysExamination: Examination = {
  id: "passkeys",
  looksAt: "Passkeys can be read",
  look,
};

const FILE_BYTES_MAX: number = 4 * 1024 * 1024;

async function look({ home }: DoctorContext): Promise<readonly Found[]> {
  const path = home.passkeysPath;
  // Modes and links are the examination of files' to say.
  if (!(await isPrivateFile(path))) return [];
  try {
    // The text alone: what seals it may be broken, and is looked at by itself.
    const passkeys = parsePasskeys(await readPrivateFile(path, FILE_BYTES_MAX));
    if (passkeys.length === 0 || passkeys.some(({ revokedAtMs }) => revokedAtMs === undefined))
      return [];
    const found = `All ${passkeys.length} passkeys are revoked`;
    return [makeFound("passkeys_none_active", { path, found })];
  } catch (error) {
    const { message: found } = asError(error);
    const mend = {
      what: `set ${path} aside; everyone creates their passkeys again in the inbox`,
      note: "before",
      run: () => setAside(home, path),
    } as const;
    return [makeFound("passkeys_broken", { path, found, mend })];
  }
}
