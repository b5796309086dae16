/**
 * Interpreters: how programs of other languages are given their code: in an argument, in a file, or
 * on their input.
 */
import { hasFlag, operandsOf, type Call, type Field } from "./call.js";

/** How an interpreter takes its program. */
interface Interpreter {
  /** Letters of options whose value is code. */
  readonly code: string;
  /** Letters that take a value, so that what follows them is no letter. */
  readonly valued: string;
  readonly long?: readonly string[];
  /** Whether the first operand is code. */
  readonly isFirst?: true;
}

const PYTHON: Interpreter = { code: "c", valued: "WXmQ" };
const NODE: Interpreter = { code: "ep", valued: "rC", long: ["eval", "print"] };
const AWK: Interpreter = { code: "e", valued: "Fvf", isFirst: true };

const INTERPRETERS: ReadonlyMap<string, Interpreter> = new Map<string, Interpreter>([
  ["python", PYTHON],
  ["pypy", PYTHON],
  ["ipython", PYTHON],
  ["node", NODE],
  ["nodejs", NODE],
  ["bun", NODE],
  ["tsx", NODE],
  ["ts-node", NODE],
  ["deno", { code: "", valued: "", isFirst: true }],
  ["perl", { code: "eE", valued: "MmIFDxCi" }],
  ["ruby", { code: "e", valued: "rIWEFKxT" }],
  ["php", { code: "rBRE", valued: "dcfz" }],
  ["lua", { code: "e", valued: "l" }],
  ["luajit", { code: "e", valued: "l" }],
  ["rscript", { code: "e", valued: "" }],
  ["julia", { code: "eE", valued: "L" }],
  ["osascript", { code: "e", valued: "l" }],
  ["groovy", { code: "e", valued: "" }],
  ["elixir", { code: "e", valued: "" }],
  ["jrunscript", { code: "e", valued: "lf" }],
  ["qjs", { code: "e", valued: "" }],
  ["r", { code: "e", valued: "" }],
  ...[
    "irb",
    "tclsh",
    "wish",
    "expect",
    "swift",
    "scala",
    "guile",
    "clojure",
    "clj",
    "jshell",
    "jjs",
    "gjs",
    "iex",
    "erl",
    "ghci",
    "ocaml",
    "sbcl",
  ].map((name): [string, Interpreter] => [
    name,
    name === "expect" ? { code: "c", valued: "f" } : { code: "", valued: "" },
  ]),
  ["awk", AWK],
  ["gawk", AWK],
  ["mawk", AWK],
  ["nawk", AWK],
]);

/** Runtimes with a subcommand in front of the file. */
const RUNTIMES: ReadonlySet<string> = new Set(["bun", "deno"]);

/** `python3.11` is `python`. */
export function interpreterName(name: string): string | undefined {
  if (INTERPRETERS.has(name)) return name;
  if (!/[\d.]$/.test(name)) return undefined;
  const plain = name.replace(/[\d.]{1,12}$/, "");
  return INTERPRETERS.has(plain) ? plain : undefined;
}

/** How an interpreter is called: with code, with a file, or with what its input says. */
export interface Program {
  readonly codes: readonly Field[];
  readonly file?: Field;
  readonly readsInput: boolean;
}

/** Where an interpreter's program comes from. */
export function programOf(call: Call, name: string): Program {
  const interpreter = INTERPRETERS.get(name);
  if (interpreter === undefined) return { codes: [], readsInput: false };
  const codes: Field[] = [];
  let at = 0;
  for (; at < call.args.length; at += 1) {
    const field = call.args[at];
    const text = field?.text ?? "";
    if (field === undefined || !text.startsWith("-") || text === "-") break;
    if (text === "--") {
      at += 1;
      break;
    }
    if (text.startsWith("--")) {
      const option = text.slice(2).split("=", 1)[0] ?? "";
      if (interpreter.long?.includes(option) !== true) continue;
      const value = text.includes("=")
        ? { ...field, text: text.slice(text.indexOf("=") + 1) }
        : call.args[(at += 1)];
      if (value !== undefined) codes.push(value);
      continue;
    }
    const found = codeInCluster(call, at, interpreter);
    at = found.next;
    if (found.code !== undefined) codes.push(found.code);
    if (found.isOver === true) return { codes, readsInput: false };
  }
  if (RUNTIMES.has(name) && call.args[at]?.text === "run") at += 1;
  const operand = call.args[at];
  if (
    interpreter.isFirst === true &&
    codes.length === 0 &&
    !(name === "deno" && operand?.text !== "eval")
  ) {
    const isEval = name === "deno" && operand?.text === "eval";
    const code = name === "deno" ? (isEval ? operandsOf(call)[1] : undefined) : operand;
    return {
      codes: code === undefined || hasFlag(call, name === "deno" ? "" : "f") ? [] : [code],
      readsInput: false,
    };
  }
  if (codes.length > 0) return { codes, readsInput: false };
  if (
    operand === undefined ||
    /^(?:-|\/dev\/(?:stdin|fd\/0)|\/proc\/self\/fd\/0)$/.test(operand.text)
  )
    return {
      codes,
      readsInput:
        !hasFlag(call, "", ["version", "help"]) &&
        !call.args.some(({ text }) => /^-[vVh]$/.test(text)),
    };
  return { codes, file: operand, readsInput: false };
}

function codeInCluster(
  call: Call,
  at: number,
  { code, valued }: Interpreter,
): { readonly next: number; readonly code?: Field; readonly isOver?: boolean } {
  const field = call.args[at];
  const text = field?.text ?? "";
  for (let index = 1; index < text.length; index += 1) {
    const letter = text.charAt(index);
    const isLast = index === text.length - 1;
    if (code.includes(letter)) {
      const value = isLast
        ? call.args[at + 1]
        : field === undefined
          ? undefined
          : { ...field, text: text.slice(index + 1) };
      return { next: isLast ? at + 1 : at, ...(value === undefined ? {} : { code: value }) };
    }
    // `python -m module` runs a module: what follows are its arguments.
    if (letter === "m" && valued.includes("W")) return { next: at, isOver: true };
    if (valued.includes(letter)) return { next: isLast && !"iCx".includes(letter) ? at + 1 : at };
  }
  return { next: at };
}
