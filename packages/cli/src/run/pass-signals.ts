/**
 * Pass signals: what is sent to us is for the agent. Before it runs, a signal that would end us
 * ends its start.
 */
import { readFileSync } from "node:fs";
import type { SandboxedProcess } from "@acp/core";
import { statFields } from "@acp/host";
import type { Io } from "../command.js";

/** Signals that end a program which does not know them. */
const ENDING: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];
const OTHERS: readonly NodeJS.Signals[] = ["SIGWINCH", "SIGCONT", "SIGUSR1", "SIGUSR2"];
/**
 * What a terminal sends to every process of its foreground group: to the agent as well, where it
 * belongs to that.
 */
const FROM_TERMINAL: ReadonlySet<NodeJS.Signals> = new Set([
  "SIGINT",
  "SIGQUIT",
  "SIGWINCH",
  "SIGCONT",
]);

/** Signals on their way. */
export interface PassedSignals {
  /** Aborts when a signal came that ends us, before there was an agent. */
  readonly stopped: AbortSignal;
  /** The signal that came. */
  readonly stoppedBy: () => NodeJS.Signals | undefined;
  /** From now on they go to the agent. */
  readonly to: (agent: Pick<SandboxedProcess, "pid" | "kill">) => void;
}

/** Takes the process's signals from now on. */
export function passSignals({ onSignals }: Pick<Io, "onSignals">): PassedSignals {
  const stop = new AbortController();
  let stoppedBy: NodeJS.Signals | undefined;
  let agent: Pick<SandboxedProcess, "pid" | "kill"> | undefined;
  onSignals([...ENDING, ...OTHERS], (name) => {
    if (agent !== undefined) {
      if (!FROM_TERMINAL.has(name) || !isInForeground(agent.pid)) agent.kill(name);
    } else if (ENDING.includes(name)) {
      stoppedBy ??= name;
      stop.abort(new Error(name));
    }
  });
  return {
    stopped: stop.signal,
    stoppedBy: () => stoppedBy,
    to: (started) => {
      agent = started;
    },
  };
}

/**
 * Whether our terminal reaches the process itself: it is in our session, and its group is the
 * foreground group there. One in a session of its own is not.
 */
export function isInForeground(pid: number): boolean {
  try {
    const [stat, own] = [pid, "self"].map((each) => readFileSync(`/proc/${each}/stat`, "utf8"));
    return stat !== undefined && own !== undefined && statIsInForeground(stat, own);
  } catch {
    return false;
  }
}

/** The same of lines of /proc/PID/stat. */
export function statIsInForeground(stat: string, own: string): boolean {
  const { group, session, foreground } = jobOf(stat);
  return (
    group !== undefined &&
    group === foreground &&
    Number(group) > 0 &&
    session === jobOf(own).session
  );
}

function jobOf(
  stat: string,
): Readonly<Record<"group" | "session" | "foreground", string | undefined>> {
  const [, , group, session, , foreground] = statFields(stat);
  return { group, session, foreground };
}
