/**
 * TerminalDevice: the controlling terminal, opened by its path. Never the process's own stdin and
 * stdout, which belong to the agent or to MCP.
 */
import { closeSync, constants, createWriteStream, openSync, readFileSync } from "node:fs";
import { ReadStream, WriteStream, isatty } from "node:tty";
import { ConsentError, quoteText } from "@acp/core";
import { statFields } from "@acp/host";
import type { OutputStream } from "@acp/host";
import type { InputStream } from "./typed-input.js";

/** The controlling terminal of whatever process opens it. */
export const CONTROLLING_TERMINAL = "/dev/tty";

/** An open terminal. */
export interface TerminalDevice {
  readonly input: InputStream;
  readonly output: OutputStream;
  close(): void;
}

function unavailable(path: string, why: string, cause?: unknown): never {
  throw new ConsentError(
    "channel_unavailable",
    `Cannot ask on the terminal ${quoteText(path)}: ${why}`,
    { cause },
  );
}

/**
 * Whether this process is in the background of its terminal: the system would stop it as soon as it
 * reads there. Known on Linux only: fields 5 (process group) and 8 (the terminal's foreground
 * group) of /proc/self/stat.
 */
function isInBackground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    const [, , group, , , foreground] = statFields(stat);
    return group !== foreground;
  } catch {
    return false;
  }
}

function open(path: string): number {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDWR | constants.O_NOCTTY);
  } catch (error) {
    return unavailable(path, "there is none", error);
  }
  if (isatty(fd)) return fd;
  closeSync(fd);
  return unavailable(path, "it is not a terminal");
}

/**
 * Opens a terminal for one round of questions.
 *
 * @throws ConsentError `channel_unavailable` where there is none, or where this process is in its
 *   background.
 */
export function openTerminal(path: string): TerminalDevice {
  if (path === CONTROLLING_TERMINAL && isInBackground())
    unavailable(path, "this process is in its background");
  const input = new ReadStream(open(path));
  const size = new WriteStream(open(path));
  // Not a tty.WriteStream: that one blocks the whole process while the terminal takes nothing
  // (Ctrl-S, a lost remote session).
  const writer = createWriteStream(path, { fd: open(path) });
  const ignore = (): void => undefined;
  input.on("error", ignore);
  size.on("error", ignore);
  writer.on("error", ignore);
  const output: OutputStream = Object.defineProperties(writer, {
    isTTY: { value: true },
    columns: { get: () => size.getWindowSize()[0] },
  });
  return {
    input,
    output,
    close() {
      input.destroy();
      size.destroy();
      writer.end();
    },
  };
}
