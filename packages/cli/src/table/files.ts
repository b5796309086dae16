/**
 * Files on a command line, as the table of commands describes them. How they are found:
 * select-files.ts.
 */

/** Files of one command line. A command that takes patterns also takes what a shell made of one. */
export const FILES_MAX = 10_000;

/** For the help of every command that takes files. */
export const FILES_DETAIL: string =
  "FILE may be a pattern in quotes, so that your shell leaves it alone: `*` and `?` stand for " +
  "characters of one name, `**` for any number of folders, `[ab]` and `{a,b}` for one of " +
  "several. A pattern that matches no file is an error. The name of an existing file, and every " +
  "word after `--`, is taken literally.";
