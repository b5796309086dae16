/**
 * TerminalFront: asks on the terminal of this process while questions are open, and lets go of it
 * in between.
 */
import type { Clock } from "@acp/core";
import { type Through, runUi } from "./approver-ui.js";
import type { ApproverClient } from "./approver-client.js";
import { CONTROLLING_TERMINAL, type TerminalDevice, openTerminal } from "./terminal-device.js";

/** Parts of {@link createTerminalFront}. */
export interface TerminalFrontOptions {
  /** What is asked. */
  readonly pending: ApproverClient["pending"];
  /** Makes a client for one round of questions, which closes it. */
  readonly connect: () => ApproverClient;
  readonly path: string;
  readonly color: boolean;
  readonly clock: Clock;
  readonly redraw?: boolean;
  readonly guardMs?: number;
}

/** The terminal front. */
export interface TerminalFront {
  /**
   * Makes sure there is a terminal, before a question is put on the board.
   *
   * @throws ConsentError `channel_unavailable` where there is none.
   */
  open(): void;
  /** Shows what is asked. */
  show(): void;
  close(): Promise<void>;
}

/** A front on the terminal at `path`. */
export function createTerminalFront(options: TerminalFrontOptions): TerminalFront {
  const { pending, connect, path } = options;
  const stop = new AbortController();
  const through: Through = new Map();
  let device: TerminalDevice | undefined;
  let running: Promise<void> | undefined;

  const unasked = (): boolean => pending().some(({ request }) => !through.has(request.id));

  // In the foreground of another terminal are others: Ctrl-C there must not end this process, nor
  // can it end them.
  const raise = path === CONTROLLING_TERMINAL ? {} : { raise: () => undefined };

  const run = async (terminal: TerminalDevice): Promise<void> => {
    const client = connect();
    const { input, output } = terminal;
    const end = await runUi(
      { ...options, ...raise, client, input, output, signal: stop.signal, untilIdle: true },
      through,
    );
    await client.close();
    terminal.close();
    device = undefined;
    running = undefined;
    // A question may have come just after the last one ended. At the end of the input nobody is
    // asked until the next question comes.
    if (end === "idle" && unasked()) reopen();
  };
  const reopen = (): void => {
    try {
      front.open();
      front.show();
    } catch {
      // The terminal is gone: what is open waits for an attached client, or expires.
    }
  };

  const front: TerminalFront = {
    open() {
      device ??= openTerminal(path);
    },
    show() {
      if (device !== undefined) running ??= run(device);
    },
    async close() {
      stop.abort();
      await running;
      device?.close();
    },
  };
  return front;
}
