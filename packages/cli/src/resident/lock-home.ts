/**
 * Lock of a home: what `acp unlock` and `acp lock` do in its resident. Locking ends every session,
 * its servers and all that was opened with the keys; the clients stay, and hear at once that the key
 * is locked.
 */
import { openHome } from "@acp/home";
import type { Invocation } from "../command.js";
import { readHomeConfig } from "../gate/config.js";
import { openHomeKeysWith } from "../gate/home-keys.js";
import { ownHomePath } from "../home/home-source.js";
import type { IndexRebuild } from "../logs/index-rebuild.js";
import type { HomeGates } from "./home-gates.js";
import { createLock } from "./lock.js";
import type { Lock, Unlocked } from "./lock.js";
import type { Session } from "./session.js";

const TTL_MS: number = 8 * 3_600_000;
/** How long sessions have to end when the key is locked. */
const END_MS = 10_000;

/** The lock of the home that the resident serves; nothing is unlocked while its index is made. */
export function lockOf(invocation: Invocation, rebuild: Pick<IndexRebuild, "check">): Lock {
  const home = openHome(ownHomePath(invocation));
  home.catch(() => undefined);
  return createLock({
    async open(passphrase) {
      await rebuild.check();
      return openHomeKeysWith(await home, invocation, { kind: "passphrase", passphrase });
    },
    ttlMs: async () => (await readHomeConfig(await home, invocation)).config?.unlockTtlMs ?? TTL_MS,
    nowMs: () => performance.now(),
    wallMs: () => Date.now(),
  });
}

/** What people's commands do with the lock. */
export interface LockCommands {
  unlock(passphrase: string): Promise<Unlocked>;
  /** True if it was open. */
  lock(): Promise<boolean>;
  /** Ends what is open where the time of the keys is over; called every few seconds. */
  expire(): Promise<void>;
}

/** Parts of {@link lockCommands}. */
export interface LockCommandsParts {
  readonly lock: Lock;
  readonly gates: Pick<HomeGates, "close">;
  readonly sessions: Iterable<Pick<Session, "isLocked" | "leave" | "destroy" | "done">>;
  readonly print: Pick<Invocation["print"], "notice">;
}

/** Makes them. */
export function lockCommands({ lock, gates, sessions, print }: LockCommandsParts): LockCommands {
  let isOpen = false;
  const expire = async (): Promise<void> => {
    if (!isOpen || lock.keys() !== undefined) return;
    isOpen = false;
    print.notice("The key is locked");
    const all = [...sessions];
    for (const each of all) each.leave("again");
    const limit = new Promise<void>((resolve) => void setTimeout(resolve, END_MS).unref());
    const ended = Promise.race([Promise.all(all.map(({ done }) => done)), limit]);
    await gates.close(ended.then(() => all.forEach((each) => each.destroy())));
  };
  return {
    async unlock(passphrase) {
      const unlocked = await lock.unlock(passphrase);
      if (!unlocked.unlocked) {
        print.notice(`The key was not unlocked [${unlocked.code}]`);
        return unlocked;
      }
      isOpen = true;
      print.notice(`The key is unlocked until ${unlocked.until}`);
      for (const each of sessions) if (each.isLocked()) each.leave("again");
      return unlocked;
    },
    async lock() {
      const wasOpen = lock.lock();
      await expire();
      return wasOpen;
    },
    expire,
  };
}
