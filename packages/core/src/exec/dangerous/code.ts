/**
 * Code: programs of other languages given as an argument. They are not parsed: words that only such code has are looked for, and the texts
 * in it are taken for commands where it runs commands.
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
  ].map((name): [string, Interpreter] => [name, name === "expect" ? { code: "c", valued: "f" } : { code: "", valued: "" }]),
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
      const value = text.includes("=") ? { ...field, text: text.slice(text.indexOf("=") + 1) } : call.args[(at += 1)];
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
  if (interpreter.isFirst === true && codes.length === 0 && !(name === "deno" && operand?.text !== "eval")) {
    const isEval = name === "deno" && operand?.text === "eval";
    const code = name === "deno" ? (isEval ? operandsOf(call)[1] : undefined) : operand;
    return { codes: code === undefined || hasFlag(call, name === "deno" ? "" : "f") ? [] : [code], readsInput: false };
  }
  if (codes.length > 0) return { codes, readsInput: false };
  if (operand === undefined || /^(?:-|\/dev\/(?:stdin|fd\/0)|\/proc\/self\/fd\/0)$/.test(operand.text))
    return { codes, readsInput: !hasFlag(call, "", ["version", "help"]) && !call.args.some(({ text }) => /^-[vVh]$/.test(text)) };
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
      const value = isLast ? call.args[at + 1] : field === undefined ? undefined : { ...field, text: text.slice(index + 1) };
      return { next: isLast ? at + 1 : at, ...(value === undefined ? {} : { code: value }) };
    }
    // `python -m module` runs a module: what follows are its arguments.
    if (letter === "m" && valued.includes("W")) return { next: at, isOver: true };
    if (valued.includes(letter)) return { next: isLast && !"iCx".includes(letter) ? at + 1 : at };
  }
  return { next: at };
}

const has = (code: string, words: readonly string[]): boolean => words.some((word) => code.includes(word));

const RUNS_COMMANDS = [
  "system(",
  "system ",
  "subprocess",
  "popen",
  "Popen",
  "execSync",
  "spawn",
  "child_process",
  "exec(",
  "exec ",
  "shell_exec",
  "passthru",
  "proc_open",
  "os.execute",
  "do shell script",
  "spawn ",
  "Deno.Command",
  "Open3",
  "`",
  "%x",
  "qx",
  "$`",
  '| "',
  "|getline",
  "|&",
];
const SOCKETS = ["socket", "Socket", "fsockopen", "require('net')", 'require("net")', "node:net", "/inet/", "TCPSocket", "pty.spawn"];
/** Waits for or makes a connection. */
const CONNECTS = ["connect", "bind", "accept", "listen", "TCPSocket", "fsockopen", "/inet/", "PeerAddr", "sockaddr", "Socket("];
/** Starts a program, whatever the language. */
const SPAWNS =
  /(?<![.\w$])(?:system|popen|exec|execl|execv|execvp|spawn)(?![\w.])|subprocess|child_process|\.popen|\.spawn|shell_exec|passthru|proc_open|os\.(?:execute|system|exec|popen)|Open3|\brun\((?:pipeline\()?`|dup2|\|&|%x|ProcessBuilder/;
/** Runs a text as code or as a command: a function of that name, not the method of a pattern (`/x/.exec(…)`). */
const RUNS_TEXT = /(?<![.\w$])(?:exec|eval|execfile|loadstring|assert)(?:\s|\()|\bos\.system\(|\bFunction\(|\binstance_eval\b|\bvm\.run/;
const HIDES = [
  "b64decode",
  "decode_base64",
  "base64_decode",
  "decode64",
  "atob(",
  "'base64'",
  '"base64"',
  "'hex'",
  '"hex"',
  "fromhex",
  "unhexlify",
  "decompress",
  "gzinflate",
  "gzuncompress",
  "inflate",
  "rot13",
  "unpack(",
  "unpack ",
  "pack(",
  "urlopen",
  "requests.get",
  "urllib",
  "LWP",
  "Net::HTTP",
  "URI.open",
  "open-uri",
  "https.get",
  "http.get",
  "fetch(",
  "file_get_contents('http",
  'file_get_contents("http',
  "fromCharCode",
  "str_rot13",
  "marshal.loads",
];
const DELETES = [
  "rmtree",
  "rmSync",
  "rmdirSync",
  "rm_rf",
  "rm_r(",
  "remove_tree",
  "rimraf",
  "removeSync",
  "remove_dir_all",
  "fs.rm(",
  "promises.rm(",
  "remove_entry_secure",
  "removedirs",
];
const WRITES = [
  "'w'",
  '"w"',
  "'a'",
  '"a"',
  "'wb'",
  '"wb"',
  "'ab'",
  '"ab"',
  "'w+'",
  '"w+"',
  "writeFile",
  "appendFile",
  "file_put_contents",
  "File.write",
  "write_text",
  "write_bytes",
  "createWriteStream",
  "copyFile",
  "shutil.copy",
  "'>",
  '">',
  '> "',
  '>> "',
  '>"',
  '>>"',
];

/** What a piece of code does, told by its words. */
export interface CodeSigns {
  readonly isRemoteShell: boolean;
  readonly runsHidden: boolean;
  readonly forksForever: boolean;
  readonly killsAll: boolean;
  /** Texts that it may run as commands. */
  readonly commands: readonly string[];
  /** Texts that it may delete as folders, with everything in them. */
  readonly deleted: readonly string[];
  /** Texts that it may write to as files. */
  readonly written: readonly string[];
}

/** Texts of one piece of code that are looked at. */
const LITERALS_MAX = 40;

/** Reads the signs of code. */
export function readCode(code: string): CodeSigns {
  const literals = literalsOf(code);
  const texts = literals.flat();
  const runs = has(code, RUNS_COMMANDS);
  return {
    isRemoteShell: has(code, SOCKETS) && has(code, CONNECTS) && SPAWNS.test(code),
    runsHidden: RUNS_TEXT.test(code) && has(code, HIDES),
    forksForever: code.includes("fork") && /\b(?:while|loop|for|until)\b/.test(code) && !/\b(?:wait|exit|range|times)\b/.test(code),
    killsAll: /\bkill\s*\(?\s*(?:-1\s*,|["']?(?:KILL|TERM|9|SIGKILL)["']?\s*,\s*-1\b)/.test(code),
    commands: runs ? [...texts, ...literals.map((group) => group.join(" "))] : [],
    deleted: has(code, DELETES) ? texts : [],
    written: has(code, WRITES) ? texts : [],
  };
}

/** Texts in quotes; those that only a comma separates stand together. */
function literalsOf(code: string): readonly (readonly string[])[] {
  const groups: string[][] = [];
  let end = -1;
  let count = 0;
  for (let at = 0; at < code.length && count < LITERALS_MAX; at += 1) {
    const quote = code.charAt(at);
    if (quote !== '"' && quote !== "'" && quote !== "`") continue;
    let close = at + 1;
    while (close < code.length && code.charAt(close) !== quote) close += code.charAt(close) === "\\" ? 2 : 1;
    const text = code.slice(at + 1, close).replace(/\\(["'`\\])/g, "$1");
    const isNext = end >= 0 && /^[\s,[\]()]*$/.test(code.slice(end, at)) && code.slice(end, at).includes(",");
    const group = groups.at(-1);
    if (isNext && group !== undefined) group.push(text);
    else groups.push([text]);
    count += 1;
    end = close + 1;
    at = close;
  }
  const spawned = /\bspawn\s+([^"'`;\n]{1,500})/.exec(code)?.[1];
  if (spawned !== undefined) groups.push([spawned]);
  const operator = /(?:%x|qx|q)[{(/|]([^})/|]{0,500})[})/|]/.exec(code)?.[1];
  if (operator !== undefined) groups.push([operator]);
  return groups;
}
