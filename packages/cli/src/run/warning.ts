/**
 * Warning: where nothing holds the agent, that is said so that nobody misses it.
 */
import type { SandboxReport } from "@acp/core";
import type { Io } from "../command.js";
import { createPrinter } from "../printer.js";

const LINES: Readonly<Partial<Record<SandboxReport["level"], readonly string[]>>> = {
  none: [
    "NO ISOLATION. The command runs with nothing around it but variables.",
    "It can go past the gate to any host, read and write what you can, and answer its own questions.",
    "Every event in the log says so. acp sandbox probe shows what would hold it.",
  ],
  advisory: [
    "NO BARRIER. Programs that mean well are led to the gate; one that does not goes past it.",
    "It can read and write what you can, and answer its own questions.",
    "Every event in the log says so. acp sandbox probe shows what would hold it.",
  ],
};

/** Lines to print before the agent starts; none where there is a barrier. A program that reads gets the notice of the gate. */
export function warningOf({ level }: SandboxReport, { stderr, env }: Pick<Io, "stderr" | "env">): readonly string[] {
  const { tone } = createPrinter({ stdout: stderr, stderr, env, json: false });
  const lines = LINES[level] ?? [];
  const bar = "!".repeat(Math.max(0, ...lines.map((line) => line.length + 6)));
  return lines.length === 0 ? [] : [bar, ...lines.map((line) => `!! ${line}`), bar].map((line) => tone("red", line));
}
