/**
 * The home's passkeys, with a line in the audit log for each that is added or revoked: whose yes
 * counts is worth knowing later.
 */
import { logEvent, randomIds, systemClock } from "@acp/core";
import { filePasskeys } from "@acp/home";
import type { FilePasskeys, HomePaths } from "@acp/home";
import { readAuditConfig } from "./log-settings.js";
import type { Io } from "../command.js";
import { openHomeAudit } from "./open-audit.js";

/** The store of a home's inbox and of `acp passkeys revoke`. */
export function loggedPasskeys(home: HomePaths, io: Pick<Io, "userHome">): FilePasskeys {
  const store = filePasskeys(home.passkeysPath);
  const note = async (notice: string, text: string): Promise<void> => {
    // Opened for the line alone: a log that is held is one that no gate can write.
    await using audit = await openHomeAudit(home, { config: await readAuditConfig({ home, io }) });
    await audit.append([
      logEvent(
        "gate_notice",
        { id: randomIds.next("ae"), atMs: systemClock.now() },
        { notice, text },
      ),
    ]);
  };
  return {
    list: () => store.list(),
    async add(passkey) {
      const { id, approver, createdAtMs } = passkey;
      if (!(await store.add(passkey))) return false;
      try {
        await note("passkey_added", `The passkey ${id} of ${approver} was added`);
      } catch (error) {
        // One that nobody can find in the log signs nothing: not even what was asked in between.
        await store.revoke(id, approver, createdAtMs);
        throw error;
      }
      return true;
    },
    async revoke(id, approver, atMs) {
      // It holds at once, also where the log does not take the line about it.
      if (!(await store.revoke(id, approver, atMs))) return false;
      await note("passkey_revoked", `The passkey ${id} of ${approver} was revoked`);
      return true;
    },
  };
}
