/**
 * Attempts against a manager, as data: what an agent prepares in its workspace so that somebody
 * outside of the sandbox does its work, and what shows that it succeeded. Types only. Prose:
 * docs/explanation/what-a-sandbox-holds.md.
 */

/** The part of a manager that an attempt attacks; a manager claims each of these or does not. */
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

/** Every {@link ManagerClass}, in the order of the table. */
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
 * What shows that an attempt succeeded. `mark`: the agent's code ran outside, or its signal arrived
 * there. `change`: a file changed. `secret`: it names a secret that is kept outside. `survivor`:
 * what it started still runs. `stuck`: a run does not end. `lie`: what the manager said is not
 * true, or does not come from it. `word`: it says so itself, where nothing else could show it.
 */
export type ManagerProof = "mark" | "change" | "secret" | "survivor" | "stuck" | "lie" | "word";

/**
 * Attempts that share two starts. `shared`: the second start is from the environment that a task
 * runner makes. `second_run`: what must not prevent the second start. `told`: what a manager must
 * name when the agent has ended. `terminal`: at a terminal, in a shell's pipeline. `race`: the
 * first run continues while the second starts. `own`: two starts for this attempt only.
 */
export type ManagerGroup = "shared" | "told" | "second_run" | "terminal" | "race" | "own";

/**
 * One attempt to make somebody outside do the agent's work. Scripts are for `sh`, with the
 * functions of escape/manager/words.sh.
 */
export interface ManagerAttempt {
  /** Short, stable name, for options and reports. */
  readonly id: string;
  /** The part of a manager that it attacks. */
  readonly class: ManagerClass;
  /** What it does, in words. */
  readonly title: string;
  /** What the person makes in the attempt's own folder of the workspace before the first run. */
  readonly before?: string;
  /** What the agent does in the first run, in that folder. */
  readonly agent: string;
  /** What the agent does in the second run. */
  readonly again?: string;
  /** What the person does there after the first run. */
  readonly after?: string;
  /** How to tell that something ran or changed outside. */
  readonly provenBy: ManagerProof;
  /**
   * The file that would change: below the attempt's folder, or with `~/` below the person's home.
   */
  readonly file?: string;
  /** Names that a manager must mention to have warned the person: the outcome is then `told`. */
  readonly told?: readonly string[];
  /** True if no manager is held to it, because the documentation says that it is not stopped. */
  readonly isUnpromised?: true;
  /** Which attempts it shares its starts with; `shared` unless given. */
  readonly group?: ManagerGroup;
  /** With `own`: true to start it at a terminal. */
  readonly isAtTerminal?: true;
  /** With `own`: environment variables of both starts; `{work}` is the workspace. */
  readonly env?: Readonly<Record<string, string>>;
  /** With `own`: the command of a server that the manager's configuration names. */
  readonly server?: readonly string[];
  /** With `race`: what the second run is given, as a path below the attempt's folder. */
  readonly place?: { readonly as: "workspace" | "readable"; readonly path: string };
  /** A command that fails outside if this host lacks what the attempt needs. */
  readonly needs?: string;
}

/** How one attempt ended. */
export interface ManagerResult {
  /** The attempt's {@link ManagerAttempt.id}. */
  readonly id: string;
  /** The part of a manager that it attacked. */
  readonly class: ManagerClass;
  /** What it does, in words. */
  readonly title: string;
  /**
   * `told` means that it succeeded and the manager named what to look at; `skipped`, that this host
   * lacks what it needs.
   */
  readonly outcome: "escaped" | "told" | "blocked" | "skipped";
  /** What was observed, or why it could not be tried. */
  readonly detail: string;
  /** True if the manager claims to stop it. */
  readonly isPromised: boolean;
}

/** How all attempts ended. */
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
