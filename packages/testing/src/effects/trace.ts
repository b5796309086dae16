/** Trace: what `strace -ff -y` wrote of one process, as the few facts that the oracle reports. */

/** What the processes of one run did. */
export interface Trace {
  readonly opened: readonly string[];
  readonly refused: readonly string[];
  readonly dialled: readonly string[];
  readonly started: readonly Started[];
}

/** A program that was started. */
export interface Started {
  /** Path of its file, as the call names it. */
  readonly program: string;
  /** Its arguments, starting with its own name. */
  readonly argv: readonly string[];
}

/** Calls that change a file or a name; those that open one are asked for below. */
const CHANGING =
  "unlink unlinkat rename renameat renameat2 mkdir mkdirat rmdir symlink symlinkat link linkat truncate chmod fchmodat chown lchown fchownat mknod mknodat utimensat setxattr lsetxattr removexattr";
const OPENING = "open openat creat";
const TALKING = "connect sendto sendmsg sendmmsg";

/** The calls to trace, as strace takes them. */
export const TRACED: string = `execve,execveat,pivot_root,${[CHANGING, OPENING, TALKING].join(" ").split(" ").join(",")}`;

const CHANGES: ReadonlySet<string> = new Set(CHANGING.split(" "));
const OPENS: ReadonlySet<string> = new Set(OPENING.split(" "));
const TALKS: ReadonlySet<string> = new Set(TALKING.split(" "));

const CALL =
  /^(?<name>\w+)\((?<args>.*)\)\s+= (?<result>-?\d+)(?:<(?<opened>[^>]*)>)?(?: (?<error>E\w+))?/s;
const STRING = /"((?:[^"\\]|\\.)*)"/g;
const WRITES = /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC/;
const REFUSALS: ReadonlySet<string> = new Set(["EROFS", "EACCES", "EPERM"]);
/** glibc asks a cache of names first, which is no conversation with anybody. */
const NAME_CACHE = /\/nscd\/socket$/;
/** Asking for a terminal that is not there changes nothing. */
const DEVICES = /^\/dev\/(?:tty|null|ptmx|pts\/.*)$/;
/** `rm -rf /` is refused for each file of the system; these are enough. */
const REFUSED_MAX = 100;
const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  v: "\v",
  f: "\f",
  a: "\u0007",
  b: "\b",
};

/** A string as strace prints it, one character a byte. */
function unescape(text: string): string {
  return text.replace(/\\(?:x[0-9a-f]{2}|[0-7]{1,3}|.)/gs, (escape) => {
    const code = /^\\(?:x(?<hex>..)|(?<octal>[0-7]+))$/.exec(escape)?.groups;
    if (code?.["hex"] !== undefined) return String.fromCharCode(Number.parseInt(code["hex"], 16));
    if (code?.["octal"] !== undefined)
      return String.fromCharCode(Number.parseInt(code["octal"], 8));
    return ESCAPES[escape.charAt(1)] ?? escape.charAt(1);
  });
}

function stringsOf(args: string): readonly string[] {
  return [...args.matchAll(STRING)].map(([, text = ""]) => unescape(text));
}

/** The name that a DNS question asks for. */
function questionOf(packet: string): string | undefined {
  const labels: string[] = [];
  let at = 12;
  for (let size = packet.charCodeAt(at); size > 0 && size < 64; size = packet.charCodeAt(at)) {
    labels.push(packet.slice(at + 1, at + 1 + size));
    at += 1 + size;
  }
  return labels.length > 0 && at < packet.length && labels.every((label) => /^[\w-]+$/.test(label))
    ? labels.join(".")
    : undefined;
}

function dialOf(name: string, args: string): string | undefined {
  const unix = /sun_path=(@?)"((?:[^"\\]|\\.)*)"/.exec(args);
  if (unix !== null)
    return NAME_CACHE.test(unix[2] ?? "")
      ? undefined
      : `unix ${unix[1] ?? ""}${unescape(unix[2] ?? "")}`;
  const port = /sin6?_port=htons\((\d+)\)/.exec(args)?.[1];
  const address =
    /inet_addr\("([^"]+)"\)/.exec(args)?.[1] ?? /inet_pton\(AF_INET6, "([^"]+)"/.exec(args)?.[1];
  if (port !== undefined && address !== undefined) return `${address}:${port}`;
  if (name === "connect") return undefined;
  const question = stringsOf(args)
    .map(questionOf)
    .find((asked) => asked !== undefined);
  return question === undefined ? undefined : `name ${question}`;
}

/**
 * bwrap's own work. No argument of a command looks like these lines: strace writes a line break in
 * one as `\n`.
 */
const SETS_UP = /^execve\("[^"]*\/bwrap", |^pivot_root\(.*\) += 0$/m;

/** Reads the traces of all processes of a run; those that set it up are left out. */
export function readTraces(traces: readonly string[]): Trace {
  const found = {
    opened: new Set<string>(),
    refused: new Set<string>(),
    dialled: new Set<string>(),
  };
  const started: Started[] = [];
  for (const line of traces
    .filter((trace) => !SETS_UP.test(trace))
    .flatMap((trace) => trace.split("\n"))) {
    const { name = "", args = "", opened, error } = CALL.exec(line)?.groups ?? {};
    if (name.startsWith("execve") && error === undefined) {
      const [program = "", ...argv] = stringsOf(args);
      started.push({ program, argv });
    } else if (TALKS.has(name)) {
      const dialled = dialOf(name, args);
      if (dialled !== undefined) found.dialled.add(dialled);
    } else if (OPENS.has(name) && opened !== undefined && !WRITES.test(args))
      found.opened.add(unescape(opened));
    else if (
      error !== undefined &&
      REFUSALS.has(error) &&
      (CHANGES.has(name) || WRITES.test(args))
    ) {
      const path = stringsOf(args).at(-1) ?? "";
      if (!DEVICES.test(path) && found.refused.size < REFUSED_MAX)
        found.refused.add(`${name} ${path}`);
    }
  }
  return {
    opened: [...found.opened],
    refused: [...found.refused],
    dialled: [...found.dialled],
    started,
  };
}
