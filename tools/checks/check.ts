/**
 * What every static check is: a name, what to do about a problem, and a function from a repository
 * to its problems.
 */

/** Where and how a check runs. */
export interface CheckContext {
  /** Absolute path of the repository, without a slash at the end. */
  readonly root: string;
  /**
   * Rewrite what the check keeps in step (reports, generated pages, formatting) instead of
   * comparing.
   */
  readonly update: boolean;
}

/** What a check found: one line each, with the file first. */
export interface Findings {
  /** Make the check red. */
  readonly problems: readonly string[];
  /** Are printed and change nothing. */
  readonly notes?: readonly string[];
}

/** One static check. */
export interface Check {
  readonly name: string;
  /** What to do about a problem. */
  readonly remedy: string;
  run(context: CheckContext): Promise<Findings> | Findings;
}
