/**
 * The process that started this one: how the agent's host was started, and whether it runs as the
 * same user. Linux tells through /proc; elsewhere nothing is known, and the worse is assumed.
 */
import { readFile, stat } from "node:fs/promises";

/** What is known of the parent process. */
export interface AgentProcess {
  /** Its leading words, without options: an option's value may be a secret. */
  readonly command?: string;
  /** False only where it is known to run as another user. */
  readonly sharesUid: boolean;
}

/** Looks at the process `ppid`. */
export async function lookAtAgent(ppid: number): Promise<AgentProcess> {
  const directory = `/proc/${ppid}`;
  try {
    const [{ uid }, line] = await Promise.all([
      stat(directory),
      readFile(`${directory}/cmdline`, "utf8"),
    ]);
    const command = leadingWords(line.split("\0"));
    return { sharesUid: uid === process.getuid?.(), ...(command !== "" && { command }) };
  } catch {
    return { sharesUid: true };
  }
}

/** Whether this process is root's. */
export function runsAsRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * The words before the first option: `node /usr/bin/client --key=…` is shown as `node
 * /usr/bin/client`.
 */
export function leadingWords(words: readonly string[]): string {
  const end = words.findIndex((word) => word.startsWith("-") || word === "");
  return words.slice(0, end === -1 ? words.length : end).join(" ");
}
