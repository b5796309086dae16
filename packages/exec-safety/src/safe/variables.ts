/**
 * Variables: which of them a command may set, and which it may show.
 */

/** What bash or a program fills with nothing secret. */
const SHOWN: ReadonlySet<string> = new Set(
  (
    "HOME PATH PWD OLDPWD USER LOGNAME SHELL LANG LANGUAGE TERM TMPDIR HOSTNAME HOSTTYPE OSTYPE MACHTYPE UID EUID GROUPS PPID SHLVL " +
    "BASH BASHPID BASH_VERSION RANDOM SECONDS LINENO EPOCHSECONDS EPOCHREALTIME COLUMNS LINES CI TZ PAGER EDITOR VISUAL DISPLAY " +
    "NO_COLOR FORCE_COLOR COLORTERM NODE_ENV VIRTUAL_ENV CONDA_PREFIX JAVA_HOME GOPATH GOROOT CARGO_HOME NVM_DIR PNPM_HOME " +
    "XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR " +
    "PYTHONPATH NODE_PATH LD_LIBRARY_PATH GOMODCACHE GOBIN M2_HOME"
  ).split(" "),
);

/** What is done to a variable's value and neither sets it nor reads it as code. */
const HARMLESS_OPERATORS: ReadonlySet<string> = new Set([
  ":-",
  "-",
  ":+",
  "+",
  "#",
  "##",
  "%",
  "%%",
  "^",
  "^^",
  ",",
  ",,",
  "length",
]);

/**
 * Whether showing a variable is harmless. Names in capitals come from the environment, which holds
 * keys and passwords.
 */
export function canShow(name: string): boolean {
  if (/[a-z]/.test(name)) return !/_proxy$|passw|secret|token|api_?key/i.test(name);
  return !/[A-Z]/.test(name) || SHOWN.has(name) || /^LC_[A-Z]+$/.test(name);
}

/** Whether an operator of `${…}` is harmless. */
export function isHarmlessOperator(operator: string): boolean {
  return HARMLESS_OPERATORS.has(operator);
}

/**
 * Names in capitals that people give their own variables. All others may come from the environment
 * and mean something to a program.
 */
const OWN: ReadonlySet<string> = new Set(
  (
    "BASE BRANCH BRANCHES COMMIT COMMITS COUNT CURRENT DATE DIR DIRS END FILE FILENAME FILES FIRST FOLDER FOUND HASH HEAD ITEM LAST LATEST LINE " +
    "MAX MIN MSG NAME NAMES NEW NUM OLD OUT OUTPUT PATTERN PKG PREFIX REF RESULT SHA SIZE SRC START STATUS SUFFIX TAG TARGET TODAY TOTAL VERSION"
  ).split(" "),
);

/**
 * Whether a command may set a variable: one that neither bash nor a program that it runs gives a
 * meaning.
 */
export function canSet(name: string): boolean {
  if (OWN.has(name) || /^[A-Z]$/.test(name)) return true;
  return /^(?:[a-z]|_[a-z])[A-Za-z0-9_]{0,63}$/.test(name) && !/_proxy$|^npm_/i.test(name);
}
