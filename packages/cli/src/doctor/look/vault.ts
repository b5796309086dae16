/** Examination of the vault and of the record key of a home without keys. */
import { asError } from "@acp/core";
import { openRecordKey, readVaultFile } from "@acp/home";
import { exists } from "../../home/exists.js";
import { hasKeys } from "../../home/unlock.js";
import type { DoctorContext } from "../context.js";
import type { Examination } from "../examination.js";
import { makeFound } from "../finding.js";
import type { Found } from "../finding.js";
import { isPrivateFile } from "./private.js";
import { readWhole } from "./read-whole.js";

/** The vault. */
export const vaultExamination: Examination = {
  id: "vault",
  looksAt: "The vault opens",
  look: async (context) => [...(await vault(context)), ...(await recordKey(context))],
};

async function vault(context: DoctorContext): Promise<readonly Found[]> {
  const { home } = context;
  const path = home.vaultPath;
  if (!(await exists(path)))
    return (await exists(home.privateKeyPath))
      ? [makeFound("vault_missing", { path, found: "There are keys, and no vault" })]
      : [];
  const keys = await context.keys();
  if (keys === undefined || keys instanceof Error || !(await isPrivateFile(path))) return [];
  const opened = await readVaultFile(home, keys).catch(asError);
  if (opened instanceof Error) return [makeFound("vault_broken", { path, found: opened.message })];
  return [];
}

/** More than any key has; {@link openRecordKey} has its own bound. */
const KEY_BYTES_MAX = 64 * 1024;

async function recordKey({ home }: DoctorContext): Promise<readonly Found[]> {
  // With keys it is derived from them; without a file a gate makes one.
  if (await hasKeys(home)) return [];
  return readWhole(
    { home },
    {
      path: home.recordKeyPath,
      bytesMax: KEY_BYTES_MAX,
      code: "record_key_broken",
      without: "open questions and earlier consents of this home end",
      async parse() {
        await openRecordKey(home, undefined);
        return [];
      },
    },
  );
}
