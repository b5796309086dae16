/** Runs test/writer.ts as a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { bundled } from "../../../tools/bundled.js";

const WRITER = await bundled(new URL("writer.ts", import.meta.url));

export interface WriterRun {
  /** What it wrote on stdout, in order. */
  readonly lines: readonly string[];
  readonly signal: NodeJS.Signals | null;
  readonly pid: number;
}

export interface WriterOptions {
  /** Program and arguments to start Node with. */
  readonly under?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Called at every line. */
  readonly onLine?: (line: string, child: ChildProcess) => void;
}

/** Runs the writer until its end. */
export async function runWriter(
  args: readonly (string | number)[],
  options: WriterOptions = {},
): Promise<WriterRun> {
  const [program = process.execPath, ...before] = [...(options.under ?? []), process.execPath];
  const child = spawn(program, [...before, WRITER, ...args.map(String)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...options.env },
  });
  const ended = once(child, "close");
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    options.onLine?.(line, child);
  }
  await ended;
  return { lines, signal: child.signalCode, pid: child.pid ?? 0 };
}
