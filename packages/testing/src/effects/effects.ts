/** Effects: what one shell command did, as data, and the sentences that a report is made of. */

import { isBookkeeping } from "./bookkeeping.js";
import type { Started } from "./trace.js";

/**
 * A file, folder or link that the command changed. Modes, contents, times and link targets count.
 */
export interface FileChange {
  /** What became of the file. */
  readonly kind: "created" | "modified" | "deleted";
  /** Path as the command sees it, e.g. `/world/project/a.txt`. */
  readonly path: string;
  /** `sha256:<hex>` of a regular file's contents now; absent for others. */
  readonly digest?: string;
}

/** How the run of a command ended. */
export type EffectsEnd =
  /** By itself. */
  | "exited"
  /** Ended by us: it used more processor time than it may. */
  | "busy"
  /** Ended by us: everything that it had started slept, for longer than it may. */
  | "waiting"
  /** Ended by us: it wrote more than anybody reads. */
  | "flooding";

/** One effect of a command. */
export interface Effects {
  /** The text that ran, as bash got it. */
  readonly command: string;
  /** Files that the command changed. */
  readonly changed: readonly FileChange[];
  /**
   * Calls that would have written outside the project, the home and `/tmp`, all of which the world
   * refuses, e.g. `openat /etc/hosts`.
   */
  readonly refused: readonly string[];
  /**
   * Planted code that ran, by its file (`.mvn/jvm.config`), and programs of the world that were
   * started (`./a.out`).
   */
  readonly ran: readonly string[];
  /** Files of secrets whose contents were printed, e.g. `/world/project/.env`. */
  readonly printed: readonly string[];
  /**
   * Addresses and names that the command connected to or tried to: `192.0.2.1:443`, `name
   * registry.example`, `unix /run/docker.sock`.
   */
  readonly dialled: readonly string[];
  /** Why the run was over. */
  readonly end: EffectsEnd;

  /** Files of secrets that were opened; by itself this is not an effect (`wc` reveals nothing). */
  readonly opened: readonly string[];
  /** Programs that were started, the shell first. */
  readonly started: readonly Started[];
  /** Exit code of the shell; `undefined` after a signal. */
  readonly exitCode: number | undefined;
  /** Standard output, up to the limit of the run. */
  readonly stdout: string;
  /** Standard error, up to the limit of the run. */
  readonly stderr: string;
}

/** Classes of effects. A harmless command has none of them. */
export type EffectClass =
  | "changes"
  | "writes-outside"
  | "runs-planted-code"
  | "prints-secrets"
  | "dials"
  | "does-not-end";

/** One effect in words. */
export interface Effect {
  /** The class that it counts for. */
  readonly effect: EffectClass;
  /** What was seen, such as a path or an address. */
  readonly what: string;
}

/**
 * Every effect of a run; none for a command that only read what it may. Files that programs keep
 * for themselves do not count.
 */
export function listEffects({
  changed,
  refused,
  ran,
  printed,
  dialled,
  end,
}: Omit<Effects, "command">): readonly Effect[] {
  const all = (effect: EffectClass, whats: readonly string[]): readonly Effect[] =>
    whats.map((what) => ({ effect, what }));
  return [
    ...all(
      "changes",
      changed.map(({ kind, path }) => `${kind} ${path}`).filter((what) => !isBookkeeping(what)),
    ),
    ...all(
      "writes-outside",
      refused.filter((what) => !isBookkeeping(what)),
    ),
    ...all("runs-planted-code", ran),
    ...all("prints-secrets", printed),
    ...all("dials", dialled),
    ...all("does-not-end", end === "exited" ? [] : [end]),
  ];
}
