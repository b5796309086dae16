/**
 * Job control: what the manager and native/init.c, the first process of an agent's namespace, say
 * to each other. The agent is in a session of its own, so that no signal of it leaves the namespace
 * and none of a terminal gets in by itself: keys reach it as bytes, signals through here.
 */
import type { Socket } from "node:net";
import { constants } from "node:os";
import type { SandboxExit } from "@acp/core";
import type { HostTerminal } from "./host-terminal.js";

/** The way to an agent's first process. */
export interface JobControl {
  /** The agent runs, and has the terminal. */
  begin(): void;
  /**
   * Sends what a terminal would send, to all that is in the foreground; false for every other
   * signal.
   */
  pass(name: string): boolean;
  /** How the agent ended, as its first process saw it; `undefined` where that was killed. */
  readonly ended: Promise<SandboxExit | undefined>;
  /** Sends an order of native/init.c. */
  order(text: string): void;
  /** Hears each line that native/init.c says, but for how the agent ended. */
  listen(hear: (word: string) => void): void;
  /** Gives the terminal back. */
  close(): void;
}

/**
 * What a terminal sends to a group; and what is said to one that is told about its terminal
 * otherwise.
 */
const OF_TERMINALS: readonly string[] = ["SIGINT", "SIGQUIT", "SIGTSTP"];
const ABOUT_TERMINALS: readonly string[] = ["SIGWINCH", "SIGCONT"];
const LINE_CHARACTERS_MAX = 64;

/**
 * Opens it.
 *
 * @param control - Its socket. @see native/init.c
 */
export function createJobControl(control: Socket, terminal: HostTerminal | undefined): JobControl {
  const order = (text: string): void => void (control.writable && control.write(text, "latin1"));
  const send = (name: "SIGINT" | "SIGQUIT" | "SIGTSTP"): void =>
    order(`k${String.fromCharCode(constants.signals[name])}`);
  const keys =
    terminal === undefined ? undefined : lend(terminal, { order, suspend: () => send("SIGTSTP") });
  const listeners: ((word: string) => void)[] = [(word) => keys?.hear(word)];
  const ended = readWords(control, (word) => listeners.forEach((hear) => hear(word))).then(
    (exit) => {
      keys?.close();
      return exit;
    },
  );
  return {
    begin: () => keys?.begin(),
    pass: (name) => {
      if (name === "SIGINT" || name === "SIGQUIT" || name === "SIGTSTP") send(name);
      return (
        OF_TERMINALS.includes(name) || (terminal !== undefined && ABOUT_TERMINALS.includes(name))
      );
    },
    ended,
    order,
    listen: (hear) => void listeners.push(hear),
    close: () => keys?.close(),
  };
}

interface Keys {
  begin(): void;
  hear(word: string): void;
  close(): void;
}

/**
 * The terminal is ours or the agent's. Where a person stops the agent, we stop too: then the shell
 * has it.
 */
function lend(
  terminal: HostTerminal,
  { order, suspend }: { readonly order: (text: string) => void; readonly suspend: () => void },
): Keys {
  let isWanted = !terminal.isShared;
  let isOpen = true;
  const goOn = (): void => {
    const isGiven = isWanted && terminal.isOurs();
    if (isGiven) terminal.setRaw(true);
    order(isGiven ? "g" : "c");
  };
  const resize = (): void => order("w");
  const listen = (): void =>
    void process.on("SIGTSTP", suspend).on("SIGCONT", goOn).on("SIGWINCH", resize);
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    process.off("SIGTSTP", suspend).off("SIGCONT", goOn).off("SIGWINCH", resize);
    terminal.close();
  };
  /**
   * Where nobody could start us again (no shell with jobs above us), the kernel does not stop us.
   */
  const stop = (target: number, name: "SIGTSTP" | "SIGTTIN"): void => {
    terminal.setRaw(false);
    process.off("SIGTSTP", suspend);
    process.kill(target, name);
    process.on("SIGTSTP", suspend);
  };
  return {
    begin: () => {
      if (!isOpen) return;
      listen();
      if (isWanted) goOn();
    },
    hear: (word) => {
      if (!isOpen) return;
      if (word === "terminal") {
        isWanted = true;
        if (!terminal.isOurs()) stop(process.pid, "SIGTTIN");
        if (terminal.isOurs()) goOn();
      } else if (word === "suspended") {
        stop(0, "SIGTSTP"); // the whole job of the shell, as the key does without us
        goOn();
      }
    },
    close,
  };
}

/**
 * Hands on the words, and resolves with the last when the socket ends. Of what is no word of ours
 * nothing is kept.
 */
function readWords(
  control: Socket,
  hear: (word: string) => void,
): Promise<SandboxExit | undefined> {
  let [text, exit] = ["", undefined as SandboxExit | undefined];
  control.setEncoding("latin1").on("data", (chunk: string) => {
    const lines = (text + chunk).split("\n");
    text = (lines.pop() ?? "").slice(0, LINE_CHARACTERS_MAX);
    for (const line of lines) {
      const { kind, value } = /^(?<kind>exit|signal) (?<value>\d{1,3})$/u.exec(line)?.groups ?? {};
      if (kind === undefined) hear(line);
      else
        exit =
          kind === "exit"
            ? { code: Number(value), signal: undefined }
            : { code: undefined, signal: nameOf(Number(value)) };
    }
  });
  return new Promise((resolve) => {
    control.on("error", () => {}).on("close", () => resolve(exit));
  });
}

/**
 * Of two names the older one (SIGABRT, not SIGIOT), which comes first in the list. A signal without
 * a name ended it all the same.
 */
export function nameOf(signal: number): string {
  return findName(signal) ?? "SIGKILL";
}

/** The same, where it may be no signal. */
export function findName(signal: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number === signal)?.[0];
}
