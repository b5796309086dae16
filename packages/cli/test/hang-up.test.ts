/**
 * A terminal that is closed: what ran in it ends as it ends otherwise, and answers nothing.
 */
import { execFile } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { fileURLToPath } from "node:url";
import { BIN, scratch } from "./harness.js";
import { words } from "./pane.js";

const run = promisify(execFile);
const COMMANDS = [
  { name: "approve", args: ["approve"], ready: /No gate is running yet/ },
  { name: "inbox", args: ["inbox", "--port", "0"], ready: /Ctrl-C ends the inbox/ },
] as const;

const AGAIN = fileURLToPath(new URL("fixtures/hang-up-again.cjs", import.meta.url));

/** Reads a file until it says something. */
async function until(path: string, pattern: RegExp): Promise<string> {
  for (let looks = 0; looks < 3_000; looks++) {
    const text = await readFile(path, "utf8").catch(() => "");
    if (pattern.test(text)) return text;
    await wait(50);
  }
  throw new Error(`${path} never said ${String(pattern)}`);
}

it.each(COMMANDS)(
  "acp $name ends with 0 when its terminal is closed",
  async ({ name, args, ready }) => {
    await using at = await scratch();
    const home = join(at.path, "h");
    await mkdir(home, { mode: 0o700 });
    const ended = join(at.path, "ended");
    const socket = join(at.path, `${name}.tmux`);
    const tmux = (...more: readonly string[]) =>
      run("tmux", ["-S", socket, "-f", "/dev/null", ...more]);
    // The shell outlives the hang-up, of which the kernel tells it alone, passes it on as an
    // interactive one does, and says how the command ended: each signal ends a wait with 129, and
    // once the command is gone there is nothing to wait for. One that a signal ended says 129 as
    // often as it is asked, so that it is asked nine times at most.
    const command = words(process.execPath, BIN, ...args, "--home", home);
    const script = `exec 3<&0; trap 'kill -HUP $!' HUP; ${command} <&3 & status=129; for n in 1 2 3 4 5 6 7 8 9; do [ $status = 129 ] || break; wait $!; status=$?; done; echo "exit $status" > '${ended}'`;
    await tmux("new-session", "-d", "-x", "150", script);
    try {
      for (let looks = 0; looks < 3_000; looks++) {
        const { stdout } = await tmux("capture-pane", "-p", "-J");
        if (ready.test(stdout)) break;
        await wait(50);
      }
      await tmux("kill-session");
      expect(await until(ended, /\n/)).toBe("exit 0\n");
    } finally {
      await tmux("kill-server").catch(() => undefined);
    }
  },
);

it("acp approve ends with 0 when its terminal is gone, however often it is told so as it ends", async () => {
  await using at = await scratch();
  const home = join(at.path, "h");
  await mkdir(home, { mode: 0o700 });
  const ended = join(at.path, "ended");
  const socket = join(at.path, "again.tmux");
  const tmux = (...more: readonly string[]) =>
    run("tmux", ["-S", socket, "-f", "/dev/null", ...more]);
  // What it reads is over before anybody tells it: the shell ignores the hang-up.
  const command = words(process.execPath, "--require", AGAIN, BIN, "approve", "--home", home);
  const script = `trap '' HUP; ${command}; echo "exit $?" > '${ended}'`;
  await tmux("new-session", "-d", "-x", "150", script);
  try {
    for (let looks = 0; looks < 3_000; looks++) {
      const { stdout } = await tmux("capture-pane", "-p", "-J");
      if (/No gate is running yet/.test(stdout)) break;
      await wait(50);
    }
    await tmux("kill-session");
    expect(await until(ended, /\n/)).toBe("exit 0\n");
  } finally {
    await tmux("kill-server").catch(() => undefined);
  }
});
