/**
 * Attempts against a manager, as data: what an agent prepares in its workspace so that somebody
 * outside of the sandbox does its work, and what shows that it succeeded. Types only. Prose:
 * docs/explanation/what-a-sandbox-holds.md.
 */

/** What of a manager an attempt is aimed at; a manager claims each of these or does not. */
export type ManagerClass =
  | "path"
  | "directory"
  | "python"
  | "servers"
  | "places"
  | "second_run"
  | "terminal"
  | "first_process"
  | "persistence"
  | "report";

/** All of them, in the order of a table. */
export const MANAGER_CLASSES: readonly ManagerClass[] = [
  "path",
  "directory",
  "python",
  "servers",
  "places",
  "second_run",
  "terminal",
  "first_process",
  "persistence",
  "report",
];

/**
 * What shows that an attempt succeeded. `mark`: code of the agent's ran outside, or a signal of its
 * arrived there. `change`: a file is not what it was. `secret`: it names a secret that is kept
 * outside. `survivor`: what it started runs on. `stuck`: a run does not come to its end. `lie`:
 * what the manager said is not true, or not the manager's. `word`: it says so itself, where nobody
 * else could know.
 */
export type ManagerProof = "mark" | "change" | "secret" | "survivor" | "stuck" | "lie" | "word";

/**
 * Attempts that share two starts. `shared`: the second from the environment that a task runner
 * makes. `second_run`: what must not keep the second from starting. `told`: what a manager is to
 * name when the agent has ended. `terminal`: at a terminal, in a shell's pipeline. `race`: the
 * first goes on while the second starts. `own`: two starts for this one.
 */
export type ManagerGroup = "shared" | "told" | "second_run" | "terminal" | "race" | "own";

/**
 * One try to have somebody outside do it. Scripts are for `sh`, with the words of
 * escape/manager/words.sh.
 */
export interface ManagerAttempt {
  /** Short and stable; what options and reports call it. */
  readonly id: string;
  /** The kind of thing that would be changed or run. */
  readonly class: ManagerClass;
  /** What it does, in words. */
  readonly title: string;
  /** What is there before, made by the person in the attempt's own folder of the workspace. */
  readonly before?: string;
  /** What the agent does in the first run, in that folder. */
  readonly agent: string;
  /** What the agent does in the second run. */
  readonly again?: string;
  /** What the person does there when the first run has ended. */
  readonly after?: string;
  /** How to tell that something ran or changed outside. */
  readonly provenBy: ManagerProof;
  /** What would be changed: below the attempt's folder, or with `~/` below the person's home. */
  readonly file?: string;
  /** Who names these in what they say has warned the person: outcome `told`. */
  readonly told?: readonly string[];
  /** Nobody is held to it: what the documentation says is not held. */
  readonly isUnpromised?: true;
  /** `shared` unless given. */
  readonly group?: ManagerGroup;
  /** With `own`: it is made at a terminal. */
  readonly isAtTerminal?: true;
  /** With `own`: variables of both starts; `{work}` is the workspace. */
  readonly env?: Readonly<Record<string, string>>;
  /** With `own`: the command of a server that the manager's configuration names. */
  readonly server?: readonly string[];
  /** With `race`: what the second run is given, below the attempt's folder. */
  readonly place?: { readonly as: "workspace" | "readable"; readonly path: string };
  /** A command that fails outside where the host lacks what the attempt is made of. */
  readonly needs?: string;
}

/** How one attempt went. */
export interface ManagerResult {
  /** Short name of the attempt. */
  readonly id: string;
  /** The kind of thing that it tried to change. */
  readonly class: ManagerClass;
  /** What it does, in words. */
  readonly title: string;
  /**
   * `told`: it succeeded, and the manager named what to look at. `skipped`: this host lacks what it
   * is made of.
   */
  readonly outcome: "escaped" | "told" | "blocked" | "skipped";
  /** What was seen, or why it could not be tried. */
  readonly detail: string;
  /** Whether the manager claims to stop it. */
  readonly isPromised: boolean;
}

/** How they all went. */
export interface ManagerReport {
  /** Name of the manager under test. */
  readonly manager: string;
  /** The classes that the manager says it stops. */
  readonly claims: readonly ManagerClass[];
  /** One for each attempt, in order. */
  readonly results: readonly ManagerResult[];
  /** Escapes of a class that the manager claims. */
  readonly brokenPromises: readonly ManagerResult[];
}
