/** Ask yes: a question that a person at the terminal answers with y; anything else is a no. */
import { createInterface } from "node:readline/promises";
import type { Io } from "./command.js";

/** Asks on standard error, and reads a line of standard input. */
export async function askLine({ stdin, stderr }: Io, question: string): Promise<string> {
  const lines = createInterface({ input: stdin, output: stderr });
  const closed = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
  try {
    // A terminal that goes away answers nothing.
    return (await Promise.race([lines.question(question), closed])).trim();
  } finally {
    lines.close();
  }
}

/** Whether the person types y or yes. */
export async function askYes(io: Io, question: string): Promise<boolean> {
  return /^y(?:es)?$/i.test(await askLine(io, `${question} [y/N] `));
}
