/** Examination of the passkeys: a file that cannot be read means that no passkey counts. */
import { parsePasskeys } from "@acp/home";
import type { Examination } from "../examination.js";
import { makeFound } from "../finding.js";
import { readWhole } from "./read-whole.js";

/** The passkeys. */
export const passkeysExamination: Examination = {
  id: "passkeys",
  looksAt: "Passkeys can be read",
  look: ({ home }) =>
    readWhole(
      { home },
      {
        path: home.passkeysPath,
        bytesMax: 4 * 1024 * 1024,
        code: "passkeys_broken",
        without: "everyone creates their passkeys again in the inbox",
        parse(text) {
          const passkeys = parsePasskeys(text);
          const isActive = passkeys.some(({ revokedAtMs }) => revokedAtMs === undefined);
          if (passkeys.length === 0 || isActive) return [];
          const found = `All ${passkeys.length} passkeys are revoked`;
          return [makeFound("passkeys_none_active", { path: home.passkeysPath, found })];
        },
      },
    ),
};
