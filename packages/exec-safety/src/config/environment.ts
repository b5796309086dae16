/**
 * Environment: the few variables that may be set for one command without changing what it runs or
 * reads.
 */

const LOCALE = /^[A-Za-z0-9_.@-]{0,64}$/;
const WORD = /^[A-Za-z0-9_.-]{0,64}$/;
const ZONE = /^[A-Za-z0-9_+-]{1,32}(?:\/[A-Za-z0-9_+-]{1,32}){0,3}$/;
/** What turns a pager off; any other value is a program. */
const NO_PAGER = /^(?:cat)?$/;
const OFF = /^0$/;

const VALUES: Readonly<Record<string, RegExp>> = {
  LANG: LOCALE,
  LANGUAGE: /^[A-Za-z0-9_.@:-]{0,64}$/,
  TZ: ZONE,
  NO_COLOR: WORD,
  FORCE_COLOR: WORD,
  CLICOLOR: WORD,
  CLICOLOR_FORCE: WORD,
  CI: WORD,
  COLUMNS: WORD,
  LINES: WORD,
  PAGER: NO_PAGER,
  GIT_PAGER: NO_PAGER,
  MANPAGER: NO_PAGER,
  GIT_OPTIONAL_LOCKS: OFF,
  GIT_TERMINAL_PROMPT: OFF,
};

/**
 * Whether a command is as safe with this environment variable set to this value as without it. True
 * only for a list of variables, such as locale, colors and size of the terminal.
 */
export function isHarmlessVariable(name: string, value: string): boolean {
  if (/^LC_[A-Z]{1,16}$/.test(name)) return LOCALE.test(value);
  return Object.hasOwn(VALUES, name) && VALUES[name]?.test(value) === true;
}

/** {@link isHarmlessVariable} for `name=value` as one text. */
export function isHarmlessAssignment(text: string): boolean {
  const equals = text.indexOf("=");
  return equals > 0 && isHarmlessVariable(text.slice(0, equals), text.slice(equals + 1));
}
