/** Effects: what one shell command did, as data, and the sentences that a report is made of. */

import { isBookkeeping } from "./bookkeeping.js";
import type { Started } from "./trace.js";

/**
 * A file, folder or link that is not what it was before the command. Modes, contents, times and
 * link targets count.
 */
export interface FileChange {
  /** What became of the file. */
  readonly kind: "created" | "modified" | "deleted";
  /** As the command sees it: `/world/project/a.txt`. */
  readonly path: string;
  /** `sha256:<hex>` of what a regular file holds now. */
  readonly digest?: string;
}

/** How the command's run came to its end. */
export type EffectsEnd =
  /** By itself. */
  | "exited"
  /** Ended by us: it used more processor time than it may. */
  | "busy"
  /** Ended by us: everything that it had started slept, for longer than it may. */
  | "waiting"
  /** Ended by us: it wrote more than anybody reads. */
  | "flooding";

/** What was seen of one run. */
export interface Effects {
  /** The text that ran, as bash got it. */
  readonly command: string;
  /** Files that are not as they were. */
  readonly changed: readonly FileChange[];
  /**
   * Writing calls on files outside the project, the home and `/tmp`; the world refuses them all:
   * `openat /etc/hosts`.
   */
  readonly refused: readonly string[];
  /**
   * Traps that ran, by the file that they lie in (`.mvn/jvm.config`), and programs of the world
   * that were started (`./a.out`).
   */
  readonly ran: readonly string[];
  /** Secrets whose words stand in what was printed, by their file: `/world/project/.env`. */
  readonly printed: readonly string[];
  /**
   * Who was spoken to, or tried: `192.0.2.1:443`, `name registry.example`, `unix /run/docker.sock`.
   */
  readonly dialled: readonly string[];
  /** Why the run was over. */
  readonly end: EffectsEnd;

  /** Secrets that were opened; no effect by itself (`wc` tells nothing of them). */
  readonly opened: readonly string[];
  /** Programs that were started, the shell first. */
  readonly started: readonly Started[];
  /** Exit status of the shell; `undefined` after a signal. */
  readonly exitCode: number | undefined;
  /** Standard output, up to the limit of the run. */
  readonly stdout: string;
  /** Standard error, up to the limit of the run. */
  readonly stderr: string;
}

/** The classes of effects that a command without harm has none of. */
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
 * Every effect of a run; none for a command that only read what it may. What programs keep for
 * themselves (bookkeeping.ts) is none.
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
