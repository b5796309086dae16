/** Run place: where a command would run, as far as it is known before it runs. Types only. */

/** The directory of a command, relative to the project's root. */
export interface RunPlace {
  /**
   * Below the project's root: "" is the root, "src/lib" a folder. `undefined`: outside, or not
   * known.
   */
  readonly inside: string | undefined;
  /** Absolute project root, where it is known. */
  readonly projectRoot: string | undefined;
  readonly trustedWorkspace: boolean;
  readonly isGuarded?: true;
  readonly noInput?: true;
  readonly atTerminal?: true;
  readonly loopbackPorts?: readonly number[];
}
