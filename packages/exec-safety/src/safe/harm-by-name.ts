/**
 * Harm by name: words of a program of which nothing else is known that by their names run or load
 * code, or take it from elsewhere. No entry of an allowlist lifts them: `x **` is a yes to x, not
 * to what `x --exec` runs. Data; what it does not name is not thereby harmless.
 */

/** A part of a flag's name, alone or with others: `--exec`, `--init-script`, `--plugin-dir=x`. */
const PARTS: ReadonlySet<string> = new Set(
  (
    "exec execute eval evaluate command cmd shell script plugin plugins preload require load loader rcfile bazelrc rsh hook hooks editor pager browser engine " +
    "provider launcher wrapper compiler interpreter config conf override dangerously"
  ).split(" "),
);
/** First parts that take something away. */
const DENIES: ReadonlySet<string> = new Set(["no", "ignore", "skip", "disable", "without"]);
const WHOLE: ReadonlySet<string> = new Set(["-e", "-c", "--native-file", "--cross-file"]);
/** Settings of builds that name programs, and variables, as of make. */
const SETTING =
  /^-D\w*(?:COMPILER|LAUNCHER|LINKER|PROGRAM|TOOLCHAIN|INCLUDE|MODULE_PATH)|^[A-Z][A-Z_]*=/;
/** Where packages come from. */
const SOURCE =
  /^--(?:extra-|add-|default-)?(?:sources?|repositor(?:y|ies)|repo|feed|index)(?:-ur[il])?$/;
const VERBS: ReadonlySet<string> = new Set(
  (
    "exec execute eval ev php-eval php:eval php-script runner r tinker console repl shell dbconsole cmd script dlx config alias plugin plugins extension " +
    "extensions engine try-repo devenv install-hooks self-update"
  ).split(" "),
);
/** No name is longer. */
const CHARS_MAX = 100;

/** Whether an argument is such a flag or variable. */
export function namesHarm(text: string): boolean {
  const name = text.slice(0, CHARS_MAX).replace(/=.*/s, "").toLowerCase();
  if (WHOLE.has(name) || SOURCE.test(name) || SETTING.test(text.slice(0, CHARS_MAX))) return true;
  if (!/^--?[a-z][a-z-]*$/.test(name)) return false;
  const parts = name.replace(/^--?/, "").split("-");
  return !DENIES.has(parts[0] ?? "") && parts.some((part) => PARTS.has(part));
}

/** Whether a first word makes a program run what follows it, or changes what it runs later. */
export function isVerbOfHarm(text: string): boolean {
  return VERBS.has(text);
}
