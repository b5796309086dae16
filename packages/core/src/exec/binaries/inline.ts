/**
 * Inline: scripts of Python and Node that stand in the command (`python3 -I -c '…'`, `node -e '…'`, `python3 -I - <<'EOF'`). One that only computes
 * and prints is safe, and may read files that `cat` may read. Python without `-I` runs what the folder it starts in calls `json.py`: it is asked
 * about, with the option that keeps it from doing so.
 */
import { textOf } from "../argument.js";
import type { Argument, ProgramCall } from "../argument.js";
import { checkPath } from "../paths.js";
import { say } from "./case.js";
import type { Case } from "./case.js";
import { javascriptReads } from "./languages/javascript.js";
import { pythonReads } from "./languages/python.js";
import type { Reads } from "./languages/script.js";

const PYTHON = /^python(?:3(?:\.\d{1,2})?)?$/;
const NODE = /^node(?:js)?$/;

interface Script {
  readonly text: string;
  /** Whether it runs nothing of the folder it starts in. */
  readonly isIsolated: boolean;
}

/** Judges a call that has a script in it which is known to do no harm; says whether it was one. */
export function judgeInline({ program, args, input }: ProgramCall, of: Case): boolean {
  const isPython = PYTHON.test(program);
  if (!isPython && !NODE.test(program)) return false;
  const script = isPython ? pythonScript(args, input) : nodeScript(args);
  if (script === undefined) return false;
  const reads: Reads = isPython ? pythonReads(script.text) : javascriptReads(script.text);
  if ("topic" in reads) return false;
  for (const text of reads) checkPath({ text, isGlob: false }, of.place, of);
  if (!script.isIsolated) {
    const reason = "keeps Python from running files of the folder it starts in";
    const edits = [{ at: of.span.start + of.name.length, behind: of.name, text: " -I", reason }];
    say(of, { topic: "exec", text: "runs files of the folder it starts in, unless it is given -I" }, { ...of, edits });
  }
  return true;
}

/** The script of `[-I] -c …`, or of the input. What stands behind it is only text for it. */
function pythonScript(args: readonly Argument[], input: string | undefined): Script | undefined {
  let isIsolated = false;
  for (const [index, argument] of args.entries()) {
    const text = textOf(argument);
    if (text === "-") return input === undefined ? undefined : { text: input, isIsolated };
    // Not `-u`: with it `sys.stdout.buffer` is a file, whose class opens others.
    const [, letters = "", code] = /^-([IBEsSqb]*)(c?)$/.exec(text ?? "") ?? [];
    if (letters === "" && code !== "c") return undefined;
    isIsolated ||= letters.includes("I");
    if (code !== "c") continue;
    const script = textOf(args[index + 1]);
    return script === undefined ? undefined : { text: script, isIsolated };
  }
  return input === undefined ? undefined : { text: input, isIsolated };
}

/** The script of `-e …` or `-p …`. What stands behind it may be options that load code. */
function nodeScript(args: readonly Argument[]): Script | undefined {
  const [flag, script, ...others] = args.map(textOf);
  if (!/^(?:-e|--eval|-p|--print|-pe)$/.test(flag ?? "") || script === undefined || script.startsWith("-")) return undefined;
  const [first] = others;
  return args.length > 2 && (first === undefined || first.startsWith("-")) ? undefined : { text: script, isIsolated: true };
}
