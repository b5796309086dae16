/**
 * MemoryPasskeys: a PasskeyStore that lives as long as the process, for tests and trials.
 */
import type { Passkey, PasskeyStore } from "./passkey.js";

/** Makes a passkey store in memory; it is lost with the process. */
export function memoryPasskeys(initial: readonly Passkey[] = []): PasskeyStore {
  const kept = new Map(initial.map((passkey) => [passkey.id, passkey]));
  return {
    list: async () => [...kept.values()],
    async add(passkey) {
      if (kept.has(passkey.id)) return false;
      kept.set(passkey.id, passkey);
      return true;
    },
    async revoke(id, approver, atMs) {
      const found = kept.get(id);
      if (found === undefined || found.approver !== approver || found.revokedAtMs !== undefined)
        return false;
      kept.set(id, { ...found, revokedAtMs: atMs });
      return true;
    },
  };
}
