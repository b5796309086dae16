/**
 * For the tests: the demo as a child with a temporary directory of its own, so that what it leaves
 * behind is seen.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const FOLDER: string = fileURLToPath(new URL(".", import.meta.url));

export interface Scratch extends AsyncDisposable {
  readonly path: string;
}

export async function scratch(): Promise<Scratch> {
  const path = await mkdtemp(join(tmpdir(), "acp-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** What the demo left in its temporary directory. */
export const leftIn = async (path: string): Promise<readonly string[]> =>
  (await readdir(path)).filter((name) => name.startsWith("acp-demo-"));

export interface Ended {
  readonly code: number | null;
  readonly text: string;
}

export interface RunOptions {
  readonly args?: readonly string[];
  /** Hears all that was printed so far, whenever something is. */
  readonly onText?: (text: string, kill: () => void) => void;
}

export async function runDemo(
  folder: string,
  temporary: string,
  { args = [], onText = () => {} }: RunOptions = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [join(folder, "demo.mjs"), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, TMPDIR: temporary },
  });
  let text = "";
  let isTold = false;
  // Once: a signal that comes while Node is leaving ends it without its exit code.
  const kill = (): void => {
    if (!isTold) child.kill("SIGINT");
    isTold = true;
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      text += String(chunk);
      onText(text, kill);
    });
  }
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, text };
}
