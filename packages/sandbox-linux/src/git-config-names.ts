/**
 * Git config names: files that a repository's configuration leads to: what it includes, and what it
 * runs. Pure. Not a parser of Git's: a line that only looks like one of these names a file too
 * many, which is then read-only.
 */

/** What a configuration names, as it is written there. */
export interface GitConfigNames {
  /** Further configuration, relative to the file. */
  readonly includes: readonly string[];
  /** Folders of hooks, relative to the work tree. */
  readonly hooks: readonly string[];
  /** Words of what it runs: those that are files, relative to the work tree, may be programs. */
  readonly programs: readonly string[];
}

/** More than these are in no configuration that a person has written. */
const NAMES_MAX = 200;
const LINE = /^\s*(?:\[[^\]]*\]\s*)?(?<key>[a-z][a-z0-9-]*)\s*=\s*(?<value>.*)$/iu;
const SECTION = /^\s*\[\s*(?<name>[a-z0-9.-]+)/iu;
/** Keys whose value Git runs, in whatever section. */
const RUN =
  /^(?:fsmonitor|sshcommand|editor|pager|askpass|program|helper|clean|smudge|process|textconv|command|cmd|driver|external)$/iu;

/** Reads a configuration. */
export function gitConfigNames(text: string): GitConfigNames {
  const includes: string[] = [];
  const hooks: string[] = [];
  const programs: string[] = [];
  let section = "";
  // A value that goes on in the next line is one.
  for (const line of text.replaceAll("\\\n", " ").split("\n")) {
    section = SECTION.exec(line)?.groups?.["name"]?.toLowerCase() ?? section;
    const { key = "", value = "" } = LINE.exec(line)?.groups ?? {};
    if (key.toLowerCase() === "path" && section.startsWith("include")) includes.push(plain(value));
    else if (key.toLowerCase() === "hookspath") hooks.push(plain(value));
    else if (RUN.test(key) || (section === "alias" && /^\s*"?!/u.test(value)))
      programs.push(...wordsOf(plain(value)));
  }
  const used = (names: readonly string[]): readonly string[] =>
    [...new Set(names)].filter((name) => name !== "").slice(0, NAMES_MAX);
  return { includes: used(includes), hooks: used(hooks), programs: used(programs) };
}

function wordsOf(command: string): readonly string[] {
  return [command, ...command.replace(/^!/u, "").split(/\s+/u)];
}

/** A value without its quotes and its comment. */
function plain(value: string): string {
  const quoted = /^"(?<inner>(?:[^"\\]|\\.)*)"/u.exec(value.trim())?.groups?.["inner"];
  return (quoted ?? value.replace(/\s[#;].*$/u, ""))
    .replaceAll(/\\(?<each>["\\])/gu, "$<each>")
    .trim();
}
