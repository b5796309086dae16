/**
 * What `allow-always` stores: `<program> **` (S3), unless the program runs whatever its arguments
 * say, so that the entry would allow everything.
 */
import { NEVER_STORED } from "./never-stored.js";
import type { NeverStored } from "./never-stored.js";

/** The result of {@link storablePattern}: a pattern, or why there is none. */
export type StorablePattern =
  | { readonly pattern: string }
  | { readonly pattern?: undefined; readonly why: string };

// No longer than a file's name: VERSION looks at every place in it.
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,254}$/;
// `python3.12`, `node-20`, `bash5`, `powershell.exe`: the same program under a longer name.
const VERSION = /(?:[-.]?\d+(?:\.\d+)*)?(?:\.exe)?$/;

const WHY: Readonly<Record<NeverStored, (program: string) => string>> = {
  shell: (program) => `${program} is a shell, and runs any command`,
  interpreter: (program) => `${program} runs any program that its arguments hold`,
  wrapper: (program) => `${program} runs any other program`,
  multiplexer: (program) => `${program} is many programs in one, or runs them elsewhere`,
  agent: (program) => `${program} is an agent, and runs whatever it is told to`,
  consent: (program) => `${program} says what may run, and answers for people`,
  builtin: (program) => `${program} changes the shell that the rest of the line runs in`,
};

/**
 * The allowlist pattern that `allow-always` stores for a program: `<program> **`. There is none for
 * a program given by a path or with an unusual name, and for one that runs other programs.
 */
export function storablePattern(program: string): StorablePattern {
  if (program.includes("/"))
    return { why: "the program is given by a path, where another program may be tomorrow" };
  if (!NAME.test(program)) return { why: "the program's name is not plain" };
  const folded = program.toLowerCase();
  const kind = NEVER_STORED.get(folded) ?? NEVER_STORED.get(folded.replace(VERSION, ""));
  return kind === undefined ? { pattern: `${program} **` } : { why: WHY[kind](program) };
}
