/**
 * Inline: scripts of Python and Node that stand in the command (`python3 -I -c '…'`, `node -e '…'`,
 * `python3 -I - <<'EOF'`). One that only computes and prints is safe, and may read files that `cat`
 * may read; so is `python3 -I -m json.tool`. Python without `-I` runs what the folder it starts in
 * calls `json.py`: it is asked about, with the option that keeps it from doing so.
 */
import { textOf } from "../safe/argument.js";
import type { Argument, ProgramCall } from "../safe/argument.js";
import { checkPath } from "../safe/paths.js";
import { say } from "./judged-call.js";
import type { JudgedCall } from "./judged-call.js";
import { javascriptReads } from "./languages/javascript.js";
import { pythonReads } from "./languages/python.js";
import type { Reads } from "./languages/script.js";

const PYTHON = /^python(?:3(?:\.\d{1,2})?)?$/;
const NODE = /^node(?:js)?$/;

interface Script {
  /** The code, or the files that a module reads which does nothing else. */
  readonly text: string | readonly string[];
  /** Whether it runs nothing of the folder it starts in. */
  readonly isIsolated: boolean;
}

/** Judges a call that has a script in it which is known to do no harm; says whether it was one. */
export function judgeInline({ program, args, input }: ProgramCall, of: JudgedCall): boolean {
  const isPython = PYTHON.test(program);
  if (!isPython && !NODE.test(program)) return false;
  const script = isPython ? pythonScript(args, input) : nodeScript(args);
  if (script === undefined) return false;
  const reads = readsOf(script, isPython);
  if ("topic" in reads) return false;
  for (const text of reads) checkPath({ text, isGlob: false }, of.place, of);
  if (!script.isIsolated) {
    const reason = "keeps Python from running files of the folder it starts in";
    const edits = [{ at: of.span.start + of.name.length, behind: of.name, text: " -I", reason }];
    say(
      of,
      { topic: "exec", text: "runs files of the folder it starts in, unless it is given -I" },
      { ...of, edits },
    );
  }
  return true;
}

function readsOf({ text }: Script, isPython: boolean): Reads {
  if (typeof text !== "string") return text;
  return isPython ? pythonReads(text) : javascriptReads(text);
}

const JSON_TOOL_FLAG =
  /^--(?:sort-keys|no-ensure-ascii|json-lines|tab|no-indent|compact|indent=\d+)$/;

/**
 * The file that `json.tool` shows, given what stands behind its name; a second file would be
 * written.
 */
function jsonToolReads(args: readonly Argument[]): readonly string[] | undefined {
  const texts = args.map(textOf);
  const words = texts.filter(
    (text, at) => text === undefined || !(JSON_TOOL_FLAG.test(text) || isIndent(texts, at)),
  );
  const [file, ...others] = words;
  if (words.length === 0) return [];
  return file === undefined || others.length > 0 || file.startsWith("-") ? undefined : [file];
}

/** Whether a word is `--indent`, or its number. */
function isIndent(texts: readonly (string | undefined)[], at: number): boolean {
  const isNumber = (text: string | undefined): boolean => /^\d+$/.test(text ?? "");
  return texts[at] === "--indent"
    ? isNumber(texts[at + 1])
    : isNumber(texts[at]) && texts[at - 1] === "--indent";
}

/**
 * The script of `[-I] -c …`, or of the input, or what `[-I] -m json.tool …` reads. What stands
 * behind a script is only text for it.
 */
function pythonScript(args: readonly Argument[], input: string | undefined): Script | undefined {
  let isIsolated = false;
  for (const [index, argument] of args.entries()) {
    const text = textOf(argument);
    if (text === "-") return input === undefined ? undefined : { text: input, isIsolated };
    if (text === "-m" && textOf(args[index + 1]) === "json.tool") {
      const reads = jsonToolReads(args.slice(index + 2));
      return reads === undefined ? undefined : { text: reads, isIsolated };
    }
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
  if (
    !/^(?:-e|--eval|-p|--print|-pe)$/.test(flag ?? "") ||
    script === undefined ||
    script.startsWith("-")
  )
    return undefined;
  const [first] = others;
  return args.length > 2 && (first === undefined || first.startsWith("-"))
    ? undefined
    : { text: script, isIsolated: true };
}
