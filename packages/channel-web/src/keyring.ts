/**
 * Keyring: the passkeys that sign here: of people of this inbox, made for its domain at its origin, and not revoked.
 */
import type { Settings } from "./options.js";
import type { Passkey } from "./parts.js";

/** The passkeys of one inbox. */
export interface Keyring {
  /** A person's; everybody's unless given. Rejects where the store does. */
  usable(approver?: string): Promise<readonly Passkey[]>;
}

/** Reads the store at every call: a revocation elsewhere counts at once. */
export function createKeyring({ passkeys, people, rpId, origin }: Settings): Keyring {
  return {
    async usable(approver) {
      const all = await passkeys.list();
      return all.filter(
        (each) =>
          each.revokedAtMs === undefined &&
          each.rpId === rpId &&
          each.origins.includes(origin) &&
          people.has(each.approver) &&
          (approver === undefined || each.approver === approver),
      );
    },
  };
}
