/**
 * The home's passkeys, with a line in the audit log for each that is added or revoked: whose yes
 * counts is worth knowing later.
 */
import { logEvent, randomIds, systemClock } from "@acp/core";
import type { AuditEventInput } from "@acp/core";
import { filePasskeys } from "@acp/home";
import type { FilePasskeys, HomePaths, PasskeyRecord, StateGuard } from "@acp/home";
import { readAuditConfig } from "./log-settings.js";
import type { Io } from "../command.js";
import type { Printer } from "../printer.js";
import { createRollbackGuard, olderText } from "../rollback/state-guard.js";
import type { RollbackGuard } from "../rollback/state-guard.js";
import { openHomeAudit } from "./open-audit.js";

/**
 * The home's passkeys as its logs note them: in a file that is older than they note there are none.
 */
export function guardedPasskeys(
  { passkeysPath }: Pick<HomePaths, "passkeysPath">,
  guard: RollbackGuard,
): FilePasskeys {
  return filePasskeys(passkeysPath, {
    guard: guard.of("passkeys"),
    onOlder: (why) => guard.tell(olderText(passkeysPath, "passkeys", why)),
  });
}

/** What {@link loggedPasskeys} needs of a command. */
export interface PasskeyContext {
  readonly io: Pick<Io, "userHome">;
  readonly print: Pick<Printer, "notice">;
}

/** The store of a home's inbox and of `acp passkeys`. */
export function loggedPasskeys(home: HomePaths, context: PasskeyContext): FilePasskeys {
  const append = async (events: readonly AuditEventInput[]): Promise<void> => {
    const { io } = context;
    // Opened for the line alone: a log that is held is one that no gate can write.
    await using audit = await openHomeAudit(home, { config: await readAuditConfig({ home, io }) });
    await audit.append(events);
  };
  const guard = createRollbackGuard(home);
  guard.heed(append, (text) => context.print.notice(text));
  const store = guardedPasskeys(home, guard);
  const note = (notice: string, text: string): Promise<void> =>
    append([
      logEvent(
        "gate_notice",
        { id: randomIds.next("ae"), atMs: systemClock.now() },
        { notice, text },
      ),
    ]);
  // Where the log takes nothing, it takes no note of the undoing either.
  const unnoted: StateGuard = {
    counter: () =>
      guard
        .of("passkeys")
        .counter()
        .catch(() => 0),
    whyNot: () => Promise.resolve(undefined),
    saved: () => Promise.resolve(),
  };
  const undone = filePasskeys(home.passkeysPath, { guard: unnoted });
  /** One that nobody can find in the log signs nothing: not even what was asked in between. */
  const undo = async ({ id, approver, createdAtMs }: PasskeyRecord): Promise<void> => {
    const isThere = (await undone.list()).some(
      (each) => each.id === id && each.createdAtMs === createdAtMs,
    );
    if (isThere) await undone.revoke(id, approver, createdAtMs);
  };
  return {
    list: () => store.list(),
    async add(passkey) {
      const { id, approver } = passkey;
      try {
        if (!(await store.add(passkey))) return false;
        await note("passkey_added", `The passkey ${id} of ${approver} was added`);
      } catch (error) {
        await undo(passkey);
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
