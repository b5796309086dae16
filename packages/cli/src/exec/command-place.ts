/**
 * Command place: where a command would run, for judging what its paths mean. Types only.
 */

/** Where a command would run. Both are absolute paths. */
export interface CommandPlace {
  readonly cwd: string;
  /**
   * What the operator names, else what the agent was opened on. Absent: the engine takes the
   * directory for it, unless no project can be there.
   */
  readonly projectRoot?: string;
}
