/**
 * Host terminal: the one that the manager was started at, lent to an agent in a sandbox that has a
 * terminal of its own. What is done to it here is undone here: its modes are kept before they
 * change, and Node puts them back where this process ends without a word. One that is killed
 * cannot.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { isatty, ReadStream } from "node:tty";
import { statFields } from "@acp/host";
import type { StandardStreams } from "./standard-streams.js";

const STREAMS = [0, 1, 2] as const;

/** A terminal to lend. */
export interface HostTerminal {
  /**
   * A description of its own, which does not block: the one in our standard streams is the shell's,
   * too.
   */
  readonly fd: number;
  /** Which of the standard streams are this terminal; the others stay what they are. */
  readonly streams: readonly number[];
  /**
   * Whether somebody else may read it (a pager at the other end of a pipe, the shell): the agent
   * gets it when it asks.
   */
  readonly isShared: boolean;
  /** Whether what is typed there goes to us. */
  isOurs(): boolean;
  /** Hands what is typed on as it is; or as a person expects it, which is how it was. */
  setRaw(isRaw: boolean): void;
  close(): void;
}

/**
 * Finds it.
 *
 * @param wanted - Those of the agent.
 */
export function openHostTerminal(wanted: StandardStreams): HostTerminal | undefined {
  const streams = STREAMS.filter((fd) => wanted[fd] === "inherit" && isatty(fd));
  const [first] = streams;
  if (first === undefined) return undefined;
  const fd = reopen(first);
  let reader: ReadStream | undefined;
  return {
    fd,
    streams,
    isShared: !streams.includes(0) || isPipe(1) || !isInForeground(),
    isOurs: isInForeground,
    setRaw: (isRaw) => {
      if (!isRaw && reader === undefined) return;
      reader ??= new ReadStream(fd);
      reader.on("error", () => {}); // it is gone, and we hear of that as a signal
      reader.setRawMode(false); // a shell may have changed them meanwhile, which Node does not know
      if (isRaw) reader.setRawMode(true);
    },
    close: () => {
      reader?.setRawMode(false);
      if (reader === undefined) closeSync(fd);
      else reader.destroy();
    },
  };
}

/** Whose terminal it is not (after `su`) may not open it by its name. */
function reopen(fd: number): number {
  const flags = constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK;
  try {
    return openSync(`/proc/self/fd/${fd}`, flags);
  } catch {
    return openSync("/dev/tty", flags);
  }
}

function isPipe(fd: number): boolean {
  const found = fstatSync(fd);
  return found.isFIFO() || found.isSocket();
}

/** Our group is the one in the foreground of our terminal, or there is no such thing. */
function isInForeground(): boolean {
  const stat = readFileSync("/proc/self/stat", "utf8");
  const [, , group, , terminal, foreground] = statFields(stat);
  return terminal === "0" || group === foreground;
}
