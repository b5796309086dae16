/**
 * Kinds: what a flag's value or an operand is, and what of it is without harm.
 */
import { textOf } from "../safe/argument.js";
import type { Argument } from "../safe/argument.js";
import { review } from "../findings.js";
import { isGuard } from "../config/git-guards.js";
import { checkInside, checkName, checkPath } from "../safe/paths.js";
import { canMatchSecret, isSecretName } from "../secrets/secret-names.js";
import { say } from "./case.js";
import type { Case } from "./case.js";
import type { Why } from "./table.js";
import { shown } from "../text/shown.js";
import { awkProblem } from "./languages/awk.js";
import { jqProblem, yqProblem } from "./languages/jq.js";
import { sedProblem } from "./languages/sed.js";

type Check = (argument: Argument, of: Case) => void;

/** Every kind of a value or an operand. */
const KIND_NAMES = [
  "text",
  "number",
  "pattern",
  "count",
  "path",
  "named",
  "path-or-random",
  "folder",
  "selection",
  "revision",
  "line-range",
  "local",
  "viewed",
  "less-text",
  "topic",
  "sink",
  "shell-option",
  "verb",
  "target",
  "package",
  "remote",
  "refspec",
  "copied",
  "setting",
  "git-setting",
  "git-guard",
  "git-format",
  "variable",
  "name",
  "processes",
  "columns",
  "overview",
  "date-format",
  "printf-format",
  "sed",
  "awk",
  "jq",
  "yq",
] as const;

/** The kinds of values and operands: each has its check. */
export type Kind = (typeof KIND_NAMES)[number];

const CHECKS: Readonly<Record<Kind, Check>> = {
  /** Any text: a message, a format, a name. */
  text: () => undefined,
  /** `5`, `-5`, `+3`, `10k`, `1,5`. */
  number: ofText("number", (text) =>
    /^[-+]?\d[\w.,:+-]*$/.test(text) ? undefined : unknown("is no number"),
  ),
  /**
   * A pattern that the program itself matches: text, or names of files where the shell expands it
   * first.
   */
  pattern: (argument, of) =>
    argument.values?.some(({ isGlob }) => isGlob) === true ? checkPaths(argument, of) : undefined,
  /** How many, from the start on: none of all but the last. */
  count: ofText("number", (text) =>
    /^\+?\d\w*$/.test(text) ? undefined : unknown("is no number of what to show"),
  ),
  /** A file or a folder that is read. */
  path: (argument, of) => checkEach(checkPath, argument, of),
  /** A file or a folder of which only names, sizes and dates are shown. */
  named: (argument, of) => checkEach(checkName, argument, of),
  /**
   * The same as `path` where no more is read than was asked for, so that a device without an end
   * ends too.
   */
  "path-or-random": (argument, of) => {
    if (!/^\/dev\/u?random$/.test(textOf(argument) ?? "")) checkPaths(argument, of);
  },
  /** A folder that the program goes to. A repository's own folder is none to work in. */
  folder: (argument, of) => {
    checkPaths(argument, of);
    if (argument.values?.some(({ isTorn }) => isTorn === true) === true) unknownPath(argument, of);
    for (const { text } of argument.values ?? [])
      if (text.split("/").includes(".git"))
        say(
          of,
          { topic: "exec", text: "leads into a folder whose settings run programs" },
          at(argument, text),
        );
  },
  /** Which files of many are read: a glob, or `!glob` for which are not. */
  selection: (argument, of) => {
    for (const { text } of argument.values ?? [])
      if (
        !text.startsWith("!") &&
        (isSecretName(text) ||
          text.split("/").some((part) => /[*?[]/.test(part) && canMatchSecret(part)))
      )
        say(
          of,
          { topic: "secret", text: "chooses files that usually hold credentials" },
          at(argument, text),
        );
    if (argument.values === undefined) unknownPath(argument, of);
  },
  /** A revision, a range, `revision:path` or a path of git. */
  revision: (argument, of) => checkParts(argument, of, /^:(?:\d:|\([^)]*\)|[!^/]+)?|:/),
  /** `1,20:path` or `:function:path` of `git log -L`. */
  "line-range": (argument, of) => checkParts(argument, of, /^:?[^:]*:/),
  /** A file of this machine: a colon makes it the name of another one. */
  local: (argument, of) => {
    checkPaths(argument, of);
    for (const { text } of argument.values ?? [])
      if (text.includes(":"))
        say(of, { topic: "exec", text: "names another machine" }, at(argument, text));
  },
  /** What a pager shows; `+` begins a command of its own. */
  viewed: (argument, of) => {
    checkPaths(argument, of);
    for (const { text } of argument.values ?? [])
      if (text.startsWith("+"))
        say(
          of,
          { topic: "exec", text: "is a command of the pager, which can run programs" },
          at(argument, text),
        );
  },
  /** The value of a flag of `less`, in which `$` begins another flag. */
  "less-text": ofText("text", (text) =>
    text.includes("$")
      ? { topic: "write", text: "holds `$`, behind which other flags can stand" }
      : undefined,
  ),
  /** A page of the manual by its name, not by a path. */
  topic: ofText("topic", (text) =>
    /^[\w.+:@[-]+$/.test(text) ? undefined : { topic: "exec", text: "is no plain name of a page" },
  ),
  /** Where output may go without a trace. */
  sink: ofText("file", (text) =>
    /^\/dev\/(?:null|stdout|stderr)$/.test(text)
      ? undefined
      : { topic: "write", text: "is written to" },
  ),
  /** An option of the shell that changes nothing but when it stops. */
  "shell-option": ofText("option", (text) =>
    /^(?:pipefail|errexit|nounset)$/.test(text)
      ? undefined
      : { topic: "exec", text: "changes how the shell reads the rest" },
  ),
  /** What a service is asked to do. */
  verb: ofText("verb", (text) => {
    if (DESTROYS.test(text))
      return {
        topic: "write",
        text: "runs, changes or destroys something that cannot be brought back",
      };
    return /^secrets?(?:\/|$)/i.test(text)
      ? { topic: "secret", text: "shows credentials" }
      : undefined;
  }),
  /** What `make` is asked to make; a variable can name its shell. */
  target: ofText("target", (text) =>
    text.includes("=")
      ? { topic: "exec", text: "sets a variable, which can name a program to run" }
      : undefined,
  ),
  /**
   * A package by its name in the registry, with a version, or a folder of the project; its code
   * runs.
   */
  package: ofText("package", (text) =>
    PACKAGE.test(text)
      ? undefined
      : {
          topic: "exec",
          text: "takes a package, whose code runs, from elsewhere than the registry",
        },
  ),
  /**
   * A repository by its name in the settings: an address leads elsewhere, though nobody added it.
   */
  remote: ofText("remote", (text) =>
    /^(?:\.|[\w@+-][\w@+./-]*)$/.test(text) ? undefined : AN_ADDRESS,
  ),
  /** What is fetched or pushed: `a:b`, and no address. */
  refspec: ofText("name", (text) => (/:\/\/|@[\w.-]+:|^[./~]/.test(text) ? AN_ADDRESS : undefined)),
  /** A file or a folder that is copied; `x/.` is everything in it, also names that nobody sees. */
  copied: (argument, of) => {
    for (const { text } of argument.values ?? [])
      if (/[^/.][^/]*\/\.$/.test(text))
        say(
          of,
          { topic: "write", text: "copies hidden files as well, which can be settings" },
          at(argument, text),
        );
  },
  /** The name of a setting that holds no credentials. */
  setting: ofText("setting", settingProblem),
  /** The same for git, whose names have a dot; without one it may be a verb. */
  "git-setting": ofText("setting", (text) =>
    text.includes(".") ? settingProblem(text) : unknown("is no name of a setting"),
  ),
  /** A setting for one call of git, which takes a program away and names none. */
  "git-guard": ofText("setting", (text) =>
    isGuard(text)
      ? undefined
      : { topic: "exec", text: "sets a setting, many of which name programs to run" },
  ),
  /**
   * How git prints commits and references: some parts check a signature, with a program of the
   * settings.
   */
  "git-format": ofText("format", (text) =>
    /%[-+ ]?G|%\([^)]*signature/.test(text.replaceAll("%%", ""))
      ? { topic: "exec", text: "runs the program that checks signatures" }
      : undefined,
  ),
  /** The name of an environment variable that holds no secret. */
  variable: ofText("variable", (text) =>
    HARMLESS_VARIABLE.test(text)
      ? undefined
      : { topic: "secret", text: "may hold a secret: it is not on the list of harmless variables" },
  ),
  /** A plain name, without `=`, which would set it. */
  name: ofText("name", (text) =>
    /^[\w@%.,:/+-]+$/.test(text)
      ? undefined
      : { topic: "change", text: "is no plain name, and may set something" },
  ),
  /**
   * Processes or users of `ps`, which reads letters attached to a flag as flags where they are
   * neither.
   */
  processes: () => undefined,
  /** Columns of `ps`; the environment of a process holds secrets. */
  columns: ofText("columns", (text) =>
    /env/i.test(text)
      ? { topic: "secret", text: "shows the variables of other processes" }
      : undefined,
  ),
  /**
   * Columns of a list of a cluster's objects; all that there is of one shows the variables of its
   * programs.
   */
  overview: ofText("form", (text) =>
    /^(?:wide|name)$/.test(text)
      ? undefined
      : { topic: "secret", text: "shows all of an object, also variables that hold credentials" },
  ),
  /** What `date` prints. */
  "date-format": ofText("format", (text) =>
    text.startsWith("+")
      ? undefined
      : { topic: "change", text: "sets the clock: a format starts with `+`" },
  ),
  /** The format of `printf`. */
  "printf-format": ofText("format", (text) =>
    /%[^%A-Za-z]*[hlLjztq]*n/.test(text.replaceAll("%%", ""))
      ? { topic: "change", text: "sets a variable with `%n`" }
      : undefined,
  ),
  sed: ofText("script", sedProblem),
  awk: ofText("program", awkProblem),
  jq: ofText("filter", jqProblem),
  yq: ofText("filter", yqProblem),
};

const AN_ADDRESS: Why = {
  topic: "exec",
  text: "reaches another repository than those of the settings",
};
const PACKAGE =
  /^(?:(?:[\w.-]+@npm:)?(?:@[\w.~-]+\/)?[\w.~-]+(?:\[[\w,.-]*\])?(?:@[\w.^~<>=* |+-]*|[=<>~!]=?[^:/@]*)?|\.{1,2}(?:\/[\w.@~-]*)*)$/;
const SECRET_SETTING =
  /token|secret|passw|credential|extraheader|api_?key|cookie|proxy|helper|auth(?!or)/i;
const DESTROYS =
  /^(?:exec|execute|run|rm|rmi|rb|remove|prune|delete|destroy|terminate|kill|apply|purge|drop|flush\w*|drain|evict|attach|ssh|debug|invoke|uninstall)(?:[-\s]|$)/i;
const HARMLESS_VARIABLE =
  /^(?:PATH|HOME|PWD|OLDPWD|USER|LOGNAME|SHELL|SHLVL|LANG|LANGUAGE|LC_[A-Z]+|TERM|COLORTERM|TZ|EDITOR|VISUAL|PAGER|HOSTNAME|HOSTTYPE|OSTYPE|MACHTYPE|NODE_ENV|CI|DISPLAY|WAYLAND_DISPLAY|XDG_[A-Z_]+|VIRTUAL_ENV|CONDA_PREFIX|CONDA_DEFAULT_ENV|JAVA_HOME|GOPATH|GOROOT|GOBIN|CARGO_HOME|RUSTUP_HOME|NVM_DIR|PYENV_ROOT|PYTHONPATH|ANDROID_HOME|COLUMNS|LINES|TMPDIR|UID|EUID|BASH|BASH_VERSION|NO_COLOR|FORCE_COLOR|DEBUG)$/;

/**
 * Kinds that are looked at also in a call that is reviewed whatever its operands are: what they
 * find no entry of an allowlist lifts.
 */
export const LOOSE_KINDS: ReadonlySet<Kind> = new Set([
  "verb",
  "target",
  "package",
  "copied",
  "remote",
  "refspec",
]);

/** Their names. */
export const KINDS: readonly string[] = Object.keys(CHECKS);

/** Whether a word of a table is a kind. */
export function isKind(word: string): word is Kind {
  return Object.hasOwn(CHECKS, word);
}

/** Reports what is wrong with one value of a kind. The argument is one that stays one argument. */
export function checkKind(kind: Kind, argument: Argument, of: Case): void {
  CHECKS[kind](argument, of);
}

/** Reports every path that an argument can be, and that it is not known. */
export function checkPaths(argument: Argument, of: Case): void {
  checkEach(checkInside, argument, of);
}

function checkEach(check: typeof checkPath, argument: Argument, of: Case): void {
  if (argument.values === undefined) return unknownPath(argument, of);
  for (const value of argument.values)
    if (value.text !== "-") check(value, of.place, { report: of.report, span: argument.span });
}

function unknownPath(argument: Argument, of: Case): void {
  of.report(
    review("safe-binaries", {
      ruleId: "path.dynamic",
      span: argument.span,
      message: `which file ${shown(of.name)} reads is known only when the command runs: ${shown(argument.raw)}`,
    }),
  );
}

/** Paths on both sides of a separator. */
function checkParts(argument: Argument, of: Case, separator: RegExp): void {
  if (argument.values === undefined) return unknownPath(argument, of);
  for (const value of argument.values) {
    const found = separator.exec(value.text);
    const parts =
      found === null
        ? [value.text]
        : [value.text.slice(0, found.index), value.text.slice(found.index + found[0].length)];
    for (const text of parts)
      if (text !== "")
        checkInside({ ...value, text }, of.place, { report: of.report, span: argument.span });
  }
}

/** A kind that is judged by its text, which therefore has to be known. */
function ofText(what: string, problemOf: (text: string) => Why | undefined): Check {
  return (argument, of) => {
    if (argument.values === undefined) {
      if (what !== "number")
        say(
          of,
          { topic: "exec", text: `gets a ${what} that is known only when the command runs` },
          { span: argument.span },
        );
      return;
    }
    for (const { text, isGlob } of argument.values) {
      const why = isGlob
        ? unknown(`is a ${what} that the shell expands first: put it in quotes`)
        : problemOf(text);
      if (why !== undefined) say(of, why, at(argument, text));
    }
  };
}

function settingProblem(text: string): Why | undefined {
  return SECRET_SETTING.test(text) ? { topic: "secret", text: "may hold credentials" } : undefined;
}

function unknown(text: string): Why {
  return { topic: "unknown", text };
}

function at(
  argument: Argument,
  text: string,
): { readonly span: Argument["span"]; readonly what: string } {
  return { span: argument.span, what: text };
}
