/** A real pseudo-terminal: one tmux server of our own a test, ended with it. */
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MS = 120_000;
/** To ask tmux for its screen starts a process, so somebody who waits first sees whether it wrote. */
const LOOK_AGAIN_MS = 400;

/** Why the tests that need tmux cannot run, or nothing. */
export const whyNoTmux: string | undefined =
  spawnSync("tmux", ["-V"]).status === 0 ? undefined : "tmux is not installed";

/** A terminal in a tmux window. */
export interface Pane extends AsyncDisposable {
  /** Path of its terminal, e.g. `/dev/pts/3`. */
  readonly tty: string;
  /** What is on the screen and above it, wrapped rows joined as they were written. */
  screen(): string;
  /** Every byte that was written to the terminal. */
  bytes(): Buffer;
  /** Types text as it is. */
  type(text: string): void;
  /** Types a line at a prompt as a person does: the next key once the one before is shown. */
  answer(line: string): Promise<void>;
  /** Pastes, as the terminal does it. */
  paste(text: string): void;
  /** Presses a key by its name, e.g. `Enter`, `C-d`. */
  press(...keys: readonly string[]): void;
  /** Waits until the screen shows it. */
  shows(wanted: string | RegExp): Promise<string>;
  /** Waits until the last line is an empty prompt, as often as given. */
  prompts(): Promise<void>;
  /** Ends the program in it, as closing the window does. */
  hangUp(): void;
}

export interface PaneOptions {
  /** What runs in the terminal: a command line. */
  readonly command: string;
  /** A directory for the bytes and the server's socket. */
  readonly directory: string;
  readonly columns?: number;
}

/** Opens a terminal; its program starts once every byte is being kept. */
export async function openPane({ command, directory, columns = 100 }: PaneOptions): Promise<Pane> {
  const server = join(directory, `tmux-${randomBytes(6).toString("hex")}`);
  const log = `${server}.bytes`;
  const tmux = (...args: readonly string[]): string =>
    execFileSync("tmux", ["-S", server, "-f", "/dev/null", ...args], { encoding: "utf8" });
  tmux(
    "new-session",
    "-d",
    "-x",
    String(columns),
    "-y",
    "40",
    `tmux -S ${server} wait-for begin; exec ${command}`,
  );
  tmux("set-option", "-g", "history-limit", "10000");
  tmux("set-option", "-g", "remain-on-exit", "on");
  tmux("pipe-pane", "-o", `exec cat > '${log}'`);
  const tty = tmux("display-message", "-p", "#{pane_tty}").trim();
  tmux("wait-for", "-S", "begin");

  const screen = (): string => tmux("capture-pane", "-p", "-J", "-S", "-").trimEnd();
  const cursor = (): string =>
    tmux("display-message", "-p", "#{cursor_x},#{cursor_y},#{history_size}");
  const until = async (holds: () => boolean, what: string): Promise<void> => {
    const endMs = performance.now() + PATIENCE_MS;
    const written = (): number => statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    for (let before = written(); !holds(); before = written()) {
      const lookMs = performance.now() + LOOK_AGAIN_MS;
      if (lookMs > endMs)
        throw new Error(`not on the screen after ${PATIENCE_MS} ms: ${what}\n${screen()}`);
      while (written() === before && performance.now() < lookMs) await sleep(10);
    }
  };
  const shows = async (wanted: string | RegExp): Promise<string> => {
    let text = "";
    await until(() => {
      text = screen();
      return typeof wanted === "string" ? text.includes(wanted) : wanted.test(text);
    }, String(wanted));
    return text;
  };
  return {
    tty,
    screen,
    bytes: () => (existsSync(log) ? readFileSync(log) : Buffer.alloc(0)),
    type: (text) => void tmux("send-keys", "-l", text),
    async answer(line) {
      for (const key of line) {
        const before = cursor();
        tmux("send-keys", "-l", key);
        await until(() => cursor() !== before, `the key ${key}`);
      }
      tmux("send-keys", "Enter");
    },
    paste(text) {
      tmux("set-buffer", text);
      tmux("paste-buffer", "-p");
    },
    press: (...keys) => void tmux("send-keys", ...keys),
    shows,
    prompts: async () => void (await shows(/\n>$/)),
    hangUp: () => void tmux("kill-session"),
    async [Symbol.asyncDispose]() {
      spawnSync("tmux", ["-S", server, "kill-server"]);
    },
  };
}
