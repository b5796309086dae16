/**
 * Git configuration change: whether a repository's configuration that somebody replaced names a
 * program, a file or a folder that it did not name before. Decided by its text alone, so that it
 * does not matter who wrote it. Pure.
 */

/** A section in which the keys below mean what they say. */
const SECTION =
  /^\[(?:core|user|pull|push|fetch|merge|rebase|commit|tag|init|color|advice|(?:branch|remote|submodule) "[^"\\]*")\]$/iu;
/** Keys that no program is named by, in any of these sections. */
const KEY =
  /^(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|name|email|merge|fetch|active|rebase|ff|default|autosetupremote|followtags|prune|prunetags|autostash|autosquash|gpgsign|defaultbranch|ui)\s*=/iu;
/**
 * Of another machine, without quotes: Git takes them away, and `ext:"":sh` is a shell. A repository
 * on this machine has programs of its own, which a push runs.
 */
const ADDRESS =
  /^(?:url|pushurl)\s*=\s*(?!.*::)(?:(?:https?|ssh|git|git\+ssh|ssh\+git|ftps?):\/\/(?!-)|[\p{L}\p{N}_][\p{L}\p{N}_.@-]*:(?!\/\/))[^"\s]+$/iu;
/** Names of remotes; what is no name of one is an address. */
const REMOTE = /^(?:remote|pushremote|pushdefault)\s*=\s*(?<name>[^"\s]+)$/iu;
const REMOTE_SECTION = /^\[remote "(?<name>[^"\\]*)"\]$/iu;
/** A value that seems to go on into a header; what Git takes for a section is not sure then. */
const HIDDEN_HEADER = /\\\r?\n\s*\[/u;
const NOTHING = /^(?:[#;].*)?$/u;

/**
 * Whether the new text has nothing but plain settings and what the old one had in the same section.
 */
export function addsNoProgram(before: string, after: string): boolean {
  if (before === after) return true;
  if (HIDDEN_HEADER.test(before) || HIDDEN_HEADER.test(after)) return false;
  const [old, fresh] = [entriesOf(before), entriesOf(after)];
  const known = new Set(old.map(({ section, line }) => `${section}\n${line}`));
  const addresses = fresh.filter(({ line }) => /^url\s*=/iu.test(line));
  const remotes = new Set([
    ".",
    ...addresses.map(({ section }) => REMOTE_SECTION.exec(section)?.groups?.["name"]),
  ]);
  return fresh.every(({ section, line }) => {
    const remote = REMOTE.exec(line)?.groups?.["name"];
    return (
      isSafe(section, line, remote !== undefined && remotes.has(remote)) ||
      known.has(`${section}\n${line}`)
    );
  });
}

interface Entry {
  /** The line that began its section. */
  readonly section: string;
  readonly line: string;
}

/** A value that goes on in the next line is one with it. */
function entriesOf(text: string): readonly Entry[] {
  let section = "";
  return text.split(/(?<!\\\r?)\n/u).map((each) => {
    const line = each.trim();
    if (line.startsWith("[")) section = line;
    return { section, line };
  });
}

function isSafe(section: string, line: string, isRemote: boolean): boolean {
  if (NOTHING.test(line) && !line.includes("\n")) return true;
  if (/[\\\n]/u.test(line) || !SECTION.test(section)) return false;
  return line === section || KEY.test(line) || ADDRESS.test(line) || isRemote;
}
