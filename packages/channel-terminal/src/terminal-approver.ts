/**
 * TerminalApprover: asks on the terminal of this process what gates of other processes ask. Unlike
 * the screen of `acp approve` it has the terminal only while a question is open.
 */
import { type Clock, systemClock } from "@acp/core";
import type { ApproverClient } from "./approver-client.js";
import { CONTROLLING_TERMINAL, openTerminal } from "./terminal-device.js";
import { createTerminalFront } from "./terminal-front.js";

/** Options of {@link createTerminalApprover}. */
export interface TerminalApproverOptions {
  /** Where questions come from and answers go. It stays yours to close. */
  readonly client: ApproverClient;
  /** Path of the terminal; the process's controlling terminal, `/dev/tty`, unless given. */
  readonly path?: string;
  /** Whether to use colors; false unless given. */
  readonly color?: boolean;
  /** Whether to redraw the time left in place; true unless given. */
  readonly redraw?: boolean;
  /** How long no key may be typed before a prompt appears, in milliseconds; 400 unless given. */
  readonly guardMs?: number;
  /** Default: the system's clock. */
  readonly clock?: Clock;
}

/**
 * Asks every question that is open and each that comes, until you dispose of it or the client ends.
 * A question that comes while the terminal cannot be opened is not shown here; it waits for another
 * approver, or expires.
 *
 * @example
 * ```ts
 * import { attachApprovers, createTerminalApprover } from "@acp/channel-terminal";
 *
 * await using client = await attachApprovers({ directory, signal });
 * await using approver = createTerminalApprover({ client }); // asks on /dev/tty
 * ```
 *
 * @throws ConsentError `channel_unavailable` where there is no terminal, or this process is in its
 *   background.
 */
export function createTerminalApprover(options: TerminalApproverOptions): AsyncDisposable {
  const { client, path = CONTROLLING_TERMINAL, color = false, clock = systemClock } = options;
  openTerminal(path).close();
  const front = createTerminalFront({
    ...options,
    path,
    color,
    clock,
    pending: () => client.pending(),
    // One round does not end it.
    connect: () => ({ ...client, close: async () => undefined }),
  });
  const show = (): void => {
    try {
      front.open();
    } catch {
      return;
    }
    front.show();
  };
  const changes = client.changes[Symbol.asyncIterator]();
  const follow = async (): Promise<void> => {
    if (client.pending().length > 0) show();
    for (let next = await changes.next(); next.done !== true; next = await changes.next())
      if (next.value.type === "open") show();
  };
  const following = follow();
  return {
    async [Symbol.asyncDispose]() {
      await changes.return?.();
      await following;
      await front.close();
    },
  };
}
