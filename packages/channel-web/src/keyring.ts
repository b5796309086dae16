/**
 * Keyring: the passkeys of the people of this inbox. Those sign here that were made for its domain
 * at its origin and are not revoked.
 */
import { ConsentError } from "@acp/core";
import type { Settings } from "./options.js";
import type { Passkey } from "./passkey.js";

/**
 * The passkeys of one inbox. Everything rejects with ConsentError `channel_failed` where the store
 * fails.
 */
export interface Keyring {
  /** Those that sign here: a person's, everybody's unless given. */
  usable(approver?: string): Promise<readonly Passkey[]>;
  /** All that a person ever had. */
  all(approver: string): Promise<readonly Passkey[]>;
  /** False where its id is there already. */
  add(passkey: Omit<Passkey, "rpId" | "origins" | "createdAtMs">): Promise<boolean>;
  /** False where the person has none in use with this id. */
  revoke(id: string, approver: string): Promise<boolean>;
}

/** Whatever the store throws is said as one thing. */
async function ask<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new ConsentError("channel_failed", `Cannot ${what} passkeys: the store failed`, {
      cause: error,
    });
  }
}

/** Asks the store at every call: a revocation elsewhere counts at once. */
export function createKeyring({ passkeys, people, rpId, passkeyOrigin, clock }: Settings): Keyring {
  const list = (): Promise<readonly Passkey[]> => ask("read", async () => await passkeys.list());
  const isUsable = (each: Passkey): boolean =>
    each.revokedAtMs === undefined &&
    each.rpId === rpId &&
    each.origins.includes(passkeyOrigin) &&
    people.has(each.approver);
  return {
    usable: async (approver) =>
      (await list()).filter(
        (each) => isUsable(each) && (approver === undefined || each.approver === approver),
      ),
    all: async (approver) => (await list()).filter((each) => each.approver === approver),
    add: (passkey) =>
      ask(
        "keep",
        async () =>
          await passkeys.add({
            ...passkey,
            rpId,
            origins: [passkeyOrigin],
            createdAtMs: clock.now(),
          }),
      ),
    revoke: (id, approver) =>
      ask("revoke", async () => await passkeys.revoke(id, approver, clock.now())),
  };
}
