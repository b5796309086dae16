/**
 * HangUp: a process whose terminal went away ends as it would have ended otherwise. Node 20 and 22
 * put a terminal's settings back when they end, and abort where that fails (nodejs/node#51519), as
 * it does on a terminal that is gone: ending normally would look like a crash. Nor may they do it
 * where a pager reads our output: it has set the terminal since, and would wait for whole lines
 * from then on.
 */
import { closeSync, fstatSync, openSync } from "node:fs";
import { isatty } from "node:tty";

/** Standard input, output and error. */
const STANDARD: readonly number[] = [0, 1, 2];

/**
 * Notes which of the standard streams are terminals; at the end, those that are none any more are
 * let go of, and all of them where somebody reads.
 *
 * @returns Tells whether one of them went away. Whoever waits for nothing any more must exit then: a
 *   process that runs out of work gives up its handlers first, and whoever is told of the end of a
 *   terminal twice is ended by the second signal.
 */
export function endQuietlyOnHangUp(): () => boolean {
  const terminals = STANDARD.filter((fd) => isatty(fd));
  const isHungUp = (): boolean => terminals.some((fd) => !isatty(fd));
  if (terminals.length === 0) return isHungUp;
  process.once("exit", () => {
    const isRead = isPipe(1);
    for (const fd of terminals) if (isRead || !isatty(fd)) replace(fd);
  });
  return isHungUp;
}

function isPipe(fd: number): boolean {
  try {
    return fstatSync(fd).isFIFO();
  } catch {
    return false;
  }
}

/** Another file in its place: Node leaves alone what is not the terminal that it began with. */
function replace(fd: number): void {
  try {
    closeSync(fd);
    // The lowest number that is free: this one, since those below it are open.
    openSync("/dev/null", "r+");
  } catch {
    // It ends either way.
  }
}
