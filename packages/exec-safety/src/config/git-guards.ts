/**
 * Git guards: settings with which git enters no repository whose settings came as files of a clone,
 * and runs no helper, hook or pager of another one. Data: what the executor sets for every run, and
 * what a command may say with `-c` itself.
 */

/**
 * Git settings that keep git from entering a repository that came as files of a clone, and from
 * running its helpers, hooks and pagers, each with the one value that does so. Git knows the first
 * since 2.38.
 */
export const GIT_GUARDS: readonly (readonly [key: string, value: string])[] = [
  ["safe.bareRepository", "explicit"],
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.pager", "cat"],
  ["log.showSignature", "false"],
];

const GUARDS: ReadonlySet<string> = new Set(GIT_GUARDS.map(([key, value]) => `${key}=${value}`));

/** The arguments that set every guard, as they stand behind `git`. */
export const GUARDING: string = [...GUARDS].map((guard) => `-c ${guard}`).join(" ");

/** Whether a value of `-c` sets a guard. */
export function isGuard(text: string): boolean {
  return GUARDS.has(text);
}

/** Whether these values of `-c` set every guard. */
export function areAllGuards(texts: ReadonlySet<string>): boolean {
  return [...GUARDS].every((guard) => texts.has(guard));
}
