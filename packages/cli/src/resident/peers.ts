/**
 * Peers: whether who connects is the user whose home it is, as the kernel says. The folder of the
 * sockets keeps every other user out but root, and it is their first guard: without a C compiler, and
 * until the helper is found or made, it is the only one.
 */
import type { Socket } from "node:net";
import type { MissingHelper, UnixPeers } from "@acp/sandbox-linux";

/** Says who may connect. */
export interface Peers {
  /** Whether the kernel is asked. */
  isChecked(): boolean;
  /**
   * Whether the process at the other end is of this user. True for everybody while not checked; false
   * where it is checked and nobody can tell. Never rejects.
   */
  admits(socket: Socket): Promise<boolean>;
}

/** Finds what asks the kernel, or why there is none. */
type Find = () => Promise<UnixPeers | Pick<MissingHelper, "isAvailable" | "reason">>;

/**
 * Begins to look for the helper.
 *
 * @param uid - This user's.
 * @param say - Told why nobody is checked.
 */
export function createPeers(
  uid: number,
  say: (text: string) => void,
  find: Find = findPeers,
): Peers {
  let peers: UnixPeers | undefined;
  find().then(
    (found) => {
      if (found.isAvailable) peers = found;
      else say(`The user of a connecting process is not checked: ${found.reason}`);
    },
    (error: unknown) => say(`The user of a connecting process is not checked: ${String(error)}`),
  );
  return {
    isChecked: () => peers !== undefined,
    async admits(socket) {
      if (peers === undefined) return true;
      return (await peers.uidOf(socket).catch(() => undefined)) === uid;
    },
  };
}

async function findPeers(): ReturnType<Find> {
  if (process.platform !== "linux")
    return { isAvailable: false, reason: "there is a helper for Linux only" };
  const { unixPeers } = await import("@acp/sandbox-linux");
  return unixPeers({ mayRecall: true });
}
