/**
 * TerminalChannel: asks a person on the controlling terminal, and on every terminal that attached
 * through the approve socket. Two fronts of one board: whoever answers first ends the question
 * everywhere. Guide: docs/how-to/channels/terminal.md.
 */
import type { Socket } from "node:net";
import {
  type AskSession,
  type Channel,
  type Clock,
  ConsentError,
  type ConsentRequest,
  type PausedEnd,
  systemClock,
} from "@acp/core";
import { createBoard } from "./board.js";
import { createLocalClient } from "./local-client.js";
import { type ApproveServer, serveApprovers } from "./serve.js";
import { CONTROLLING_TERMINAL } from "./terminal-device.js";
import { type TerminalFront, createTerminalFront } from "./terminal-front.js";

/** The channel's name. */
const NAME = "terminal";
/**
 * So long after its socket listens a question waits for somebody to attach: an `acp approve` that
 * runs already, or was attached to the gate before this one, needs a moment to see it.
 */
const JOIN_MS = 2_000;

/** A channel that asks at this machine's terminal and through attached clients. */
export interface TerminalChannelOptions {
  /**
   * The terminal to ask on: its path, or `false` for none; the process's controlling terminal,
   * `/dev/tty`, unless given.
   */
  readonly terminal?: string | false;
  /**
   * Path of the socket that `acp approve` attaches to; no socket unless given. Its directory must
   * belong to this user and have mode 0700.
   */
  readonly socketPath?: string;
  /**
   * Whether who connected to the socket may be heard; everybody who can open it unless given. It
   * must not reject.
   */
  readonly admits?: (socket: Socket) => Promise<boolean>;
  /**
   * The gate's `endPaused`, which clients of the socket call after they paused an agent. Unless
   * given, no open question ends by it, and clients are told so.
   */
  readonly endPaused?: () => Promise<PausedEnd>;
  /** Called with the reason if the socket does not listen; `ready` rejects with the same reason. */
  readonly warn?: (message: string) => void;
  /** Whether to use colors on the terminal; false unless given. */
  readonly color?: boolean;
  /** Whether to redraw the time left in place; true unless given. */
  readonly redraw?: boolean;
  /**
   * How long no key may be typed before a prompt appears, in milliseconds, so that a key meant for
   * something else answers nothing; 400 unless given.
   */
  readonly guardMs?: number;
  /** Default: the system's clock. */
  readonly clock?: Clock;
}

/** A channel that holds a terminal and a socket. */
export interface TerminalChannel extends Channel, AsyncDisposable {
  /**
   * Settles when the socket listens, or at once without one; rejects with a ConsentError that says
   * why it does not.
   */
  readonly ready: Promise<void>;
  /** How many attached clients can answer. */
  attached(): number;
  /** Releases the terminal and the socket; open questions stay open at the gate. */
  close(): Promise<void>;
}

interface Fronts {
  readonly terminal: TerminalFront | undefined;
  readonly server: ApproveServer | undefined;
}

/** Makes sure that somebody can be asked. */
function findSomebody({ terminal, server }: Fronts): void {
  let cause: unknown;
  try {
    terminal?.open();
    if (terminal !== undefined) return;
  } catch (error) {
    cause = error;
  }
  if (server !== undefined && server.attached() > 0) return;
  const remedy =
    server === undefined
      ? "start the gate in a terminal, or give it a socket"
      : "run `acp approve` in a second terminal";
  throw new ConsentError(
    "channel_unavailable",
    `Cannot ask anybody: there is no terminal and no attached approver; ${remedy}`,
    { cause },
  );
}

function createFronts(
  options: TerminalChannelOptions,
  board: ReturnType<typeof createBoard>,
): Fronts {
  const { endPaused = () => Promise.resolve({ ended: 0, left: board.pending().length }) } = options;
  const {
    terminal: path = CONTROLLING_TERMINAL,
    socketPath,
    admits,
    color = false,
    clock = systemClock,
  } = options;
  return {
    terminal:
      path === false
        ? undefined
        : createTerminalFront({
            ...options,
            pending: () => board.pending(),
            connect: () => createLocalClient(board),
            path,
            color,
            clock,
          }),
    server:
      socketPath === undefined
        ? undefined
        : serveApprovers({ board, channel: NAME, socketPath, endPaused, admits }),
  };
}

/**
 * Makes a channel for the person at this machine. When a question comes, it needs a terminal or an
 * attached client; with neither, `deliver` throws `channel_unavailable` at once. A question that
 * was shown stays open until it is answered or over, even if its last client detaches, or if it is
 * shown again after a restart and nobody is there yet.
 *
 * @example
 * ```ts
 * import { createTerminalChannel } from "@acp/channel-terminal";
 * import { createConsentGate } from "@acp/core";
 *
 * await using terminal = createTerminalChannel(); // asks on /dev/tty
 * const gate = createConsentGate({ policy, channel: terminal, audit });
 * ```
 */
export function createTerminalChannel(options: TerminalChannelOptions = {}): TerminalChannel {
  const board = createBoard();
  const fronts = createFronts(options, board);
  const ready = fronts.server?.ready ?? Promise.resolve();
  let closed = false;
  ready.catch((error: unknown) =>
    options.warn?.(error instanceof Error ? error.message : String(error)),
  );
  const settled = ready.then(
    () => undefined,
    () => undefined,
  );
  const over = new AbortController();
  const { clock = systemClock } = options;
  const joined =
    fronts.server === undefined
      ? settled
      : settled.then(() => clock.sleep(JOIN_MS, { signal: over.signal })).catch(() => undefined);

  const close = async (): Promise<void> => {
    closed = true;
    over.abort();
    await fronts.terminal?.close();
    await fronts.server?.close();
  };
  return {
    name: NAME,
    ready,
    attached: () => fronts.server?.attached() ?? 0,
    async deliver(request: ConsentRequest, session: AskSession) {
      await settled;
      if (closed)
        throw new ConsentError(
          "channel_unavailable",
          "Cannot ask anybody: the terminal channel is closed",
        );
      fronts.server?.check({ request, redelivery: session.redelivery });
      if (fronts.terminal === undefined && !session.redelivery)
        await Promise.race([joined, fronts.server?.somebody()]);
      try {
        findSomebody(fronts);
      } catch (error) {
        // Nobody can have attached to a gate that has just started: what an earlier one asked waits
        // for them, until its time is over.
        if (!session.redelivery || fronts.server === undefined) throw error;
      }
      board.put(request, session);
      fronts.terminal?.show();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
