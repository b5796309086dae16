/**
 * Shells: how a shell is called: with a script as text, with a file, or with what its input says.
 */
import type { Field } from "./call.js";

const SHELLS: ReadonlySet<string> = new Set(
  "sh bash rbash dash ash zsh ksh ksh93 mksh pdksh fish csh tcsh yash posh rc elvish nu xonsh pwsh powershell".split(
    " ",
  ),
);

/** Whether a program is a shell. */
export const isShell = (name: string): boolean => SHELLS.has(name);

/** What a shell runs. */
export interface ShellProgram {
  readonly script?: Field;
  readonly file?: Field;
  readonly readsInput: boolean;
  /** Arguments of the script: `$0` or the file first. */
  readonly args: readonly Field[];
}

const STDIN = /^(?:-|\/dev\/(?:stdin|fd\/0)|\/proc\/(?:self|thread-self)\/fd\/0)$/;

/** Whether a path is the program's own input. */
export const isStdin = (text: string): boolean => STDIN.test(text);

/** Reads a shell's arguments. */
export function shellProgram(args: readonly Field[]): ShellProgram {
  let hasScript = false;
  let isInput = false;
  let at = 0;
  for (; at < args.length; at += 1) {
    const text = args[at]?.text ?? "";
    if (text === "--" || text === "-") {
      at += 1;
      break;
    }
    if (!/^[-+]./.test(text)) break;
    if (/^--(?:rcfile|init-file|startup-file)$/.test(text)) at += 1;
    else if (text === "--command" || text === "-Command" || text === "-EncodedCommand")
      hasScript = true;
    else if (/^--(?:version|help|dump|norc|noprofile|posix|login|restricted|verbose)/.test(text))
      continue;
    else if (!text.startsWith("--")) {
      hasScript ||= text.startsWith("-") && text.includes("c");
      isInput ||= text.startsWith("-") && text.includes("s");
      if (/^[-+][a-zA-Z]*[oO]$/.test(text)) at += 1;
    }
  }
  const operands = args.slice(at);
  const [first] = operands;
  if (hasScript)
    return {
      ...(first === undefined ? {} : { script: first }),
      readsInput: false,
      args: operands.slice(1),
    };
  if (isInput || first === undefined || isStdin(first.text))
    return {
      readsInput: !args.some(({ text }) => /^--(?:version|help)$/.test(text)),
      args: operands,
    };
  return { file: first, readsInput: false, args: operands };
}
