/**
 * Wrappers: programs that run another command which stands behind them. Two readers with opposite
 * needs share this page: the dangerous walk wants every tail that could be found, the safe walk
 * only the few wrappers that add nothing of their own (`isTransparent`).
 */
import type { Piece, Word } from "./tree.js";
import { isHarmlessAssignment } from "../config/environment.js";
import { leadingText } from "./visit.js";

/** A command behind a wrapper. */
export interface Unwrapped {
  /** The wrapper's own name, without its folder. */
  readonly name: string;
  /** The words of the command that it runs; empty where there is none, or where it is a script. */
  readonly tail: readonly Word[];
  /** Whether the wrapper changes nothing about how its tail has to be judged. */
  readonly isTransparent: boolean;
  /**
   * Text that a shell will read: of `sh -c`, `eval`, `watch`, `ssh`. What is not known in it stands
   * as `$unknown`; good for recall only.
   */
  readonly script?: string;
}

/** How to find the command behind a wrapper. */
interface Wrapper {
  /** Short options with a value of their own, as letters. */
  readonly valued?: string;
  /** Long options whose value is the next word. */
  readonly valuedLong?: readonly string[];
  /** Operands before the command. */
  readonly operands?: number;
  /** Words that name it once more before the options: `docker exec`. */
  readonly subcommands?: readonly string[];
  /** Options whose value is a script. */
  readonly scriptOptions?: readonly string[];
  /** The rest is joined by blanks and read by a shell. */
  readonly joins?: true;
  /** The first operand is a script where this option was given. */
  readonly shell?: true;
  /** The words before the command with which it is transparent; absent: never. */
  readonly transparent?: (own: readonly string[]) => boolean;
}

const DURATION = /^\d{1,9}(?:\.\d{1,9})?[smhd]?$/;

/** `timeout 5`, `timeout -k 5 -s KILL 30s`. */
function isPlainTimeout(own: readonly string[]): boolean {
  let at = 0;
  while (at < own.length - 1) {
    const option = own[at];
    const value = own[at + 1] ?? "";
    if (
      option === "--foreground" ||
      option === "--preserve-status" ||
      option === "-v" ||
      option === "--verbose"
    )
      at += 1;
    else if (option === "-k" && DURATION.test(value)) at += 2;
    else if (option === "-s" && /^(?:SIG)?[A-Z]{2,6}$|^\d{1,2}$/.test(value)) at += 2;
    else if (
      /^--kill-after=\d{1,9}[smhd]?$|^--signal=(?:(?:SIG)?[A-Z]{2,6}|\d{1,2})$/.test(option ?? "")
    )
      at += 1;
    else return false;
  }
  return at === own.length - 1 && DURATION.test(own[at] ?? "");
}

const isPlainNice = (own: readonly string[]): boolean =>
  /^(?:|-n -?\d{1,2}|-n-?\d{1,2}|--?\d{1,2}|--adjustment=-?\d{1,2})$/.test(own.join(" "));

const SHELL: Wrapper = { shell: true, valued: "oO", valuedLong: ["--rcfile", "--init-file"] };
const CONTAINER: Wrapper = {
  subcommands: ["exec", "run"],
  valued: "euvwplhm",
  valuedLong: [
    "--env",
    "--user",
    "--volume",
    "--workdir",
    "--name",
    "--network",
    "--entrypoint",
    "--platform",
    "--mount",
    "--env-file",
  ],
  operands: 1,
};
const BARE: Wrapper = {};

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  env: {
    valued: "uC",
    valuedLong: ["--unset", "--chdir"],
    scriptOptions: ["-S", "--split-string"],
    transparent: (own) => own.every((word) => isHarmlessAssignment(word)),
  },
  timeout: {
    valued: "ks",
    valuedLong: ["--kill-after", "--signal"],
    operands: 1,
    transparent: isPlainTimeout,
  },
  gtimeout: { valued: "ks", valuedLong: ["--kill-after", "--signal"], operands: 1 },
  nice: { valued: "n", valuedLong: ["--adjustment"], transparent: isPlainNice },
  time: {
    valued: "of",
    valuedLong: ["--output", "--format"],
    transparent: (own) => own.length === 0 || (own.length === 1 && own[0] === "-p"),
  },
  command: { transparent: (own) => own.every((word) => word === "-p" || word === "--") },
  builtin: BARE,
  exec: { valued: "a" },
  nohup: BARE,
  setsid: BARE,
  stdbuf: { valued: "ioe", valuedLong: ["--input", "--output", "--error"] },
  ionice: { valued: "cnpPu", valuedLong: ["--class", "--classdata"] },
  flock: {
    valued: "wE",
    valuedLong: ["--timeout", "--wait"],
    operands: 1,
    scriptOptions: ["-c", "--command"],
  },
  chrt: { valued: "TPD", operands: 1 },
  taskset: { operands: 1 },
  numactl: { valued: "CmNipl" },
  prlimit: BARE,
  setpriv: { valuedLong: ["--reuid", "--regid", "--groups"] },
  watch: { valued: "nq", valuedLong: ["--interval"], joins: true },
  script: { valued: "IOBTmoE", scriptOptions: ["-c", "--command"], operands: 9 },
  strace: { valued: "oepsuEaPXIOS", valuedLong: ["--output", "--attach"] },
  ltrace: { valued: "oepsuaFln" },
  unshare: { valued: "RSGw", valuedLong: ["--root", "--wd", "--setuid", "--setgid"] },
  nsenter: { valued: "tSG", valuedLong: ["--target"] },
  chroot: { operands: 1 },
  fakeroot: { valued: "lsib" },
  proot: { valued: "rbqwv" },
  unbuffer: BARE,
  rlwrap: { valued: "bcfHlpqsS" },
  caffeinate: { valued: "tw" },
  "systemd-run": { valued: "ptMHEu", valuedLong: ["--unit", "--property", "--slice"] },
  "dbus-run-session": BARE,
  "xvfb-run": { valued: "enspf" },
  torsocks: BARE,
  proxychains: { valued: "f" },
  proxychains4: { valued: "f" },
  busybox: BARE,
  toybox: BARE,
  entr: BARE,
  xargs: {
    valued: "adEILnPs",
    valuedLong: [
      "--arg-file",
      "--delimiter",
      "--max-args",
      "--max-lines",
      "--max-procs",
      "--max-chars",
      "--replace",
      "--process-slot-var",
    ],
  },
  parallel: {
    valued: "ajInNLPSdE",
    valuedLong: [
      "--jobs",
      "--arg-file",
      "--sshlogin",
      "--max-args",
      "--delay",
      "--timeout",
      "--colsep",
      "--results",
      "--joblog",
    ],
    joins: true,
  },
  sudo: {
    valued: "CDghpRrTtUu",
    valuedLong: ["--user", "--group", "--host", "--prompt", "--chdir", "--chroot"],
  },
  doas: { valued: "Cu" },
  pkexec: { valuedLong: ["--user"] },
  su: { valued: "gGsw", scriptOptions: ["-c", "--command"], operands: 9 },
  runuser: { valued: "gGsu", scriptOptions: ["-c", "--command"] },
  ssh: { valued: "BbcDEeFIiJLlmOopQRSWw", operands: 1, joins: true },
  docker: CONTAINER,
  podman: CONTAINER,
  nerdctl: CONTAINER,
  kubectl: {
    subcommands: ["exec"],
    valued: "ncl",
    valuedLong: ["--namespace", "--container"],
    operands: 1,
  },
  eval: { joins: true },
  sh: SHELL,
  bash: SHELL,
  rbash: SHELL,
  zsh: SHELL,
  dash: SHELL,
  ash: SHELL,
  ksh: SHELL,
  mksh: SHELL,
  fish: SHELL,
  csh: SHELL,
  tcsh: SHELL,
};

/** Names whose tail another program runs, so that builtins of the shell mean nothing there. */
export const SHELL_WRAPPERS: ReadonlySet<string> = new Set(["command", "builtin", "eval", "exec"]);

/**
 * The command behind a wrapper, or undefined where the first word is none (`command -v` only looks
 * a name up).
 */
export function unwrap(words: readonly Word[]): Unwrapped | undefined {
  const path = words[0]?.text;
  if (path === undefined) return undefined;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  if (wrapper === undefined) return undefined;
  if (name === "command" && /^-[pvV]*[vV]/.test(words[1]?.text ?? "")) return undefined;
  const start = afterSubcommand(words, wrapper);
  if (start === undefined) return undefined;
  const own = readOwn(words, start, wrapper);
  const found =
    own.script ??
    (wrapper.joins === true && own.end < words.length
      ? words.slice(own.end).map(render).join(" ")
      : undefined);
  const tail = wrapper.shell === true || wrapper.joins === true ? [] : words.slice(own.end);
  return {
    name,
    tail,
    isTransparent:
      path === name &&
      tail.length > 0 &&
      own.script === undefined &&
      isTransparent(wrapper, words.slice(start, own.end)),
    ...(found === undefined ? {} : { script: found }),
  };
}

/** Where the options begin; undefined where a needed subcommand is absent. */
function afterSubcommand(words: readonly Word[], { subcommands }: Wrapper): number | undefined {
  if (subcommands === undefined) return 1;
  const at = words.findIndex((word, index) => index > 0 && subcommands.includes(word.text ?? ""));
  return at < 0 ? undefined : at + 1;
}

function isTransparent({ transparent }: Wrapper, words: readonly Word[]): boolean {
  if (transparent === undefined) return false;
  const own: string[] = [];
  for (const { text } of words) {
    if (text === undefined) return false;
    own.push(text);
  }
  return transparent(own);
}

interface Own {
  /** Where the command begins. */
  readonly end: number;
  readonly script: string | undefined;
}

/** Reads a wrapper's own words: options with their values, assignments, operands. */
function readOwn(words: readonly Word[], start: number, wrapper: Wrapper): Own {
  let at = start;
  let operands = wrapper.operands ?? 0;
  let script: string | undefined;
  let hasScript = false;
  while (at < words.length) {
    const word = words[at];
    const text = word?.text;
    if (text === "--") {
      at += 1;
      if (operands === 0 || wrapper.shell === true) break;
      continue;
    }
    if (text !== undefined && isOption(text, wrapper)) {
      const option = readOption(words, at, wrapper);
      script = option.script ?? script;
      hasScript ||= option.isShellScript;
      at = option.next;
    } else if (
      wrapper.shell !== true &&
      operands === 0 &&
      word !== undefined &&
      /^[A-Za-z_]\w*=/.test(leadingText(word))
    )
      at += 1;
    else if (operands > 0) {
      operands -= 1;
      at += 1;
    } else break;
  }
  const first = words[at];
  if (hasScript && first !== undefined) script = render(first);
  // `env -S "rm -rf" /`: what follows belongs to the same command.
  else if (script !== undefined && at < words.length)
    script = `${script} ${words.slice(at).map(render).join(" ")}`;
  return { end: at, script };
}

const isOption = (text: string, { shell }: Wrapper): boolean =>
  text.length > 1 && (text.startsWith("-") || (shell === true && text.startsWith("+")));

interface Option {
  readonly next: number;
  readonly script?: string;
  readonly isShellScript: boolean;
}

function readOption(words: readonly Word[], at: number, wrapper: Wrapper): Option {
  const text = words[at]?.text ?? "";
  const following = words[at + 1];
  const isLong = text.startsWith("--");
  if (wrapper.shell === true && (/^-[A-Za-z]*c/.test(text) || text === "--command"))
    return { next: at + 1, isShellScript: true };
  for (const name of wrapper.scriptOptions ?? []) {
    if (
      isLong
        ? text === name
        : name.length === 2 && !isLong && text.endsWith(name.charAt(1)) && text.startsWith("-")
    ) {
      return {
        next: at + 2,
        script: following === undefined ? "" : render(following),
        isShellScript: false,
      };
    }
    const attached = isLong ? `${name}=` : name;
    if (text.startsWith(attached))
      return { next: at + 1, script: text.slice(attached.length), isShellScript: false };
  }
  if (isLong)
    return {
      next: at + (wrapper.valuedLong?.includes(text) === true ? 2 : 1),
      isShellScript: false,
    };
  // A cluster ends at the first letter that takes a value: attached to it, or the next word.
  const valued = [...text].findIndex(
    (letter, index) => index > 0 && wrapper.valued?.includes(letter) === true,
  );
  return { next: at + (valued === text.length - 1 ? 2 : 1), isShellScript: false };
}

/** A word as text that a shell would read again, as far as it is known. */
function render(word: Word): string {
  return word.text ?? word.pieces.map(renderPiece).join("");
}

function renderPiece(piece: Piece): string {
  if (piece.kind === "text" || piece.kind === "glob") return piece.text;
  if (piece.kind === "home") return "~";
  return piece.kind === "variable" && /^\w+$/.test(piece.name) ? `$${piece.name}` : "$unknown";
}
