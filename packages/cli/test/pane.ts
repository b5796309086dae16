/**
 * A real pseudo-terminal: what a person sees and types.
 */
import { execFile } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A terminal with a command in it. */
export interface Pane extends AsyncDisposable {
  /** Resolves when the screen, with what scrolled away, matches. */
  until(pattern: RegExp): Promise<string>;
  type(text: string): Promise<void>;
  /**
   * Answers a question with one key: Enter follows once the key is shown, since what comes in one
   * piece is taken for a paste.
   */
  answer(key: string): Promise<void>;
  press(key: string): Promise<void>;
  /** Whether a program shows its own screen in place of the usual one. */
  isOtherScreen(): Promise<boolean>;
  resize(columns: number, rows: number): Promise<void>;
}

let panes = 0;
/** Before the test's own time-out, so that the terminal is closed. */
const LOOKS_MAX = 600;

/** A command in a terminal of its own. */
export async function openPane(command: string, cwd: string): Promise<Pane> {
  const socket = `acp-cli-${process.pid}-${++panes}`;
  const tmux = (...args: readonly string[]): Promise<string> =>
    run("tmux", ["-L", socket, ...args]).then(({ stdout }) => stdout);
  await tmux(
    "new-session",
    "-d",
    "-s",
    "pane",
    "-c",
    cwd,
    "-x",
    "150",
    "-y",
    "50",
    `${command}; echo "exit $?"; exec cat`,
  );
  return {
    async until(pattern) {
      let screen = "";
      for (let looks = 0; looks < LOOKS_MAX; looks++) {
        screen = await tmux("capture-pane", "-p", "-J", "-S", "-", "-t", "pane").catch(() => "");
        if (pattern.test(screen)) return screen;
        await wait(50);
      }
      throw new Error(`the terminal never showed ${String(pattern)}; it shows:\n${screen}`);
    },
    async type(text) {
      // a person's pause: what is typed before the question can be read answers nothing
      await wait(500);
      await tmux("send-keys", "-t", "pane", "-l", text);
      await tmux("send-keys", "-t", "pane", "Enter");
    },
    async answer(key) {
      const cursor = (): Promise<string> =>
        tmux("display-message", "-p", "-t", "pane", "#{cursor_x}");
      const before = await cursor();
      await tmux("send-keys", "-t", "pane", "-l", key);
      for (let looks = 0; looks < LOOKS_MAX && (await cursor()) === before; looks++) await wait(50);
      await tmux("send-keys", "-t", "pane", "Enter");
    },
    async press(key) {
      await tmux("send-keys", "-t", "pane", key);
    },
    isOtherScreen: async () =>
      (await tmux("display-message", "-p", "-t", "pane", "#{alternate_on}")).trim() === "1",
    async resize(columns, rows) {
      await tmux("resize-window", "-t", "pane", "-x", `${columns}`, "-y", `${rows}`);
    },
    async [Symbol.asyncDispose]() {
      await tmux("kill-server").catch(() => "");
    },
  };
}

/** Words for a shell. */
export const words = (...parts: readonly string[]): string =>
  parts.map((part) => `'${part}'`).join(" ");
