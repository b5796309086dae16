/**
 * Code: what a program of another language does. It is not parsed: words that only such code has
 * are looked for, and the texts in it are taken for commands where it runs commands.
 */

const has = (code: string, words: readonly string[]): boolean =>
  words.some((word) => code.includes(word));

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
const SOCKETS = [
  "socket",
  "Socket",
  "fsockopen",
  "require('net')",
  'require("net")',
  "node:net",
  "/inet/",
  "TCPSocket",
  "pty.spawn",
];
/** Waits for or makes a connection. */
const CONNECTS = [
  "connect",
  "bind",
  "accept",
  "listen",
  "TCPSocket",
  "fsockopen",
  "/inet/",
  "PeerAddr",
  "sockaddr",
  "Socket(",
];
/** Starts a program, whatever the language. */
const SPAWNS =
  /(?<![.\w$])(?:system|popen|exec|execl|execv|execvp|spawn)(?![\w.])|subprocess|child_process|\.popen|\.spawn|shell_exec|passthru|proc_open|os\.(?:execute|system|exec|popen)|Open3|\brun\((?:pipeline\()?`|dup2|\|&|%x|ProcessBuilder/;
/**
 * Runs a text as code or as a command: a function of that name, not the method of a pattern
 * (`/x/.exec(…)`).
 */
const RUNS_TEXT =
  /(?<![.\w$])(?:exec|eval|execfile|loadstring|assert)(?:\s|\()|\bos\.system\(|\bFunction\(|\binstance_eval\b|\bvm\.run/;
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
    forksForever:
      code.includes("fork") &&
      /\b(?:while|loop|for|until)\b/.test(code) &&
      !/\b(?:wait|exit|range|times)\b/.test(code),
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
    while (close < code.length && code.charAt(close) !== quote)
      close += code.charAt(close) === "\\" ? 2 : 1;
    const text = code.slice(at + 1, close).replace(/\\(["'`\\])/g, "$1");
    const isNext =
      end >= 0 && /^[\s,[\]()]*$/.test(code.slice(end, at)) && code.slice(end, at).includes(",");
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
