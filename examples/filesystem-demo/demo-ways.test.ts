/** The demo's other ways: over other channels, at a terminal, and with a policy that is wrong. */
import { execFile } from "node:child_process";
import { cp, readFile, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { FOLDER, leftIn, runDemo, scratch } from "./running-demo.js";

const run = promisify(execFile);
/** How long a terminal is looked at: ended before the test's own time-out, it is closed. */
const LOOKS_MAX = 600;

describe("npm run demo, in its other ways,", () => {
  it.each([
    ["telegram", "stands in for Telegram's"],
    ["webhook", "receiver on this machine"],
  ])("is answered over the channel %s as well", async (channel, introduction) => {
    await using temporary = await scratch();
    const { code, text } = await runDemo(FOLDER, temporary.path, { args: ["--channel", channel] });
    expect(text).toContain(introduction);
    expect(text).toContain("person  approved with modifications");
    expect(text).toContain("person  denied: keep my notes");
    expect(text).toContain("demo    as it has to be");
    expect(code).toBe(0);
    expect(await leftIn(temporary.path)).toEqual([]);
  });

  it("fails when the policy lets the move through", async () => {
    await using copy = await scratch();
    for (const name of await readdir(FOLDER))
      if (name !== "node_modules") await cp(join(FOLDER, name), join(copy.path, name));
    await symlink(join(FOLDER, "node_modules"), join(copy.path, "node_modules"));
    const policy = await readFile(join(FOLDER, "policy.yml"), "utf8");
    await writeFile(
      join(copy.path, "policy.yml"),
      policy.replace("action: deny\n    reason: files stay in the project folder", "action: allow"),
    );
    const { code, text } = await runDemo(copy.path, copy.path);
    expect(text).toContain('WRONG   the call ended "allowed", it had to end "denied by policy"');
    expect(code).toBe(1);
    expect(await leftIn(copy.path)).toEqual([]);
  });

  it("asks the person at a terminal", async () => {
    await using temporary = await scratch();
    const tmux = (...args: readonly string[]): Promise<string> =>
      run("tmux", ["-L", `acp-demo-${process.pid}`, ...args]).then(({ stdout }) => stdout);
    const screen = (): Promise<string> =>
      tmux("capture-pane", "-p", "-J", "-S", "-", "-t", "demo").catch(() => "");
    const until = async (pattern: RegExp): Promise<void> => {
      for (let looks = 0; looks < LOOKS_MAX; looks++) {
        if (pattern.test(await screen())) return;
        await wait(50);
      }
      throw new Error(`the terminal never showed ${String(pattern)}; it shows:\n${await screen()}`);
    };
    await tmux(
      "new-session",
      "-d",
      "-s",
      "demo",
      "-x",
      "140",
      "-y",
      "50",
      `TMPDIR='${temporary.path}' '${process.execPath}' '${join(FOLDER, "demo.mjs")}'; echo "exit $?"; cat`,
    );
    try {
      for (const number of [2, 4, 5]) {
        await until(new RegExp(`${number}  agent[\\s\\S]*\\n>`));
        // What is typed before the question can be read answers nothing: on a machine that stalls a
        // person types again.
        while (!new RegExp(`${number}  agent[\\s\\S]*person  `).test(await screen())) {
          await wait(500);
          await tmux("send-keys", "-t", "demo", number === 5 ? "d mine" : "a");
          // What comes in one piece is taken for a paste.
          await wait(200);
          await tmux("send-keys", "-t", "demo", "Enter");
          await wait(1_000);
        }
      }
      await until(/exit \d/);
      const text = await screen();
      expect(text).toContain("You are the person who is asked");
      expect(text).toMatch(/person {2}denied: mine/);
      expect(text).toContain("exit 0");
    } finally {
      await tmux("kill-server").catch(() => "");
    }
    expect(await leftIn(temporary.path)).toEqual([]);
  });
});
