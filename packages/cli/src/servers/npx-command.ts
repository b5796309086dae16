/**
 * npx command: reads `npx …` and `npm exec …` of a server's configuration, as npm does, into
 * packages of a registry, the program, and its arguments. What npm would take from anywhere else,
 * or would hand to a shell, is refused. Prose: docs/how-to/sandbox.md.
 */
import { basename } from "node:path";

/** A package of a registry. */
export interface PackageSpec {
  readonly name: string;
  /** A version, a range or a tag. */
  readonly wanted: string;
}

/** What is to be started. */
export interface NpxCommand {
  /** At least one, no two of the same name; the program is the first one's where none is named. */
  readonly packages: readonly PackageSpec[];
  /**
   * Name of the program; left out: the only one of the package, or the one that is called as the
   * package is.
   */
  readonly program?: string;
  readonly args: readonly string[];
}

/** Why a command cannot be pinned, as the end of a sentence. */
export interface Unpinnable {
  readonly reason: string;
}

const NAME_CHARS_MAX = 214;
const PACKAGES_MAX = 16;
/** As npm wants names of new packages: they are file names and parts of URLs. */
const NAME = /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/u;
const NOT_NAMES = ["node_modules", "favicon.ico"];
/**
 * Versions, ranges and tags. Neither `:` nor `/`: addresses, repositories, paths and other names
 * have one.
 */
const WANTED = /^[a-zA-Z0-9<>=~^*][a-zA-Z0-9.+<>=~^|* -]{0,127}$/u;
const ARCHIVE = /\.(?:tgz|tar\.gz|tar)$/iu;
const PROGRAM = /^[a-zA-Z0-9][\w.-]{0,127}$/u;

/** Reads a command line; `undefined` where it is not npm that starts the server. */
export function readNpxCommand([program = "", ...words]: readonly string[]):
  | NpxCommand
  | Unpinnable
  | undefined {
  const name = basename(program);
  if (name === "npx") return readWords(words, true);
  const [command = "", ...rest] = words;
  return name === "npm" && (command === "exec" || command === "x")
    ? readWords(rest, false)
    : undefined;
}

/** Reads `name`, `name@version`, `name@range` or `name@tag`. */
export function readPackageSpec(text: string): PackageSpec | Unpinnable {
  const at = text.indexOf("@", 1);
  const name = at === -1 ? text : text.slice(0, at);
  const wanted = at === -1 ? "latest" : text.slice(at + 1);
  const refuse = (why: string): Unpinnable => ({
    reason: `${JSON.stringify(text.slice(0, 256))} ${why}`,
  });
  if (
    name.length > NAME_CHARS_MAX ||
    !NAME.test(name) ||
    NOT_NAMES.includes(name) ||
    ARCHIVE.test(name)
  ) {
    return refuse("is not the name of a package in a registry");
  }
  if (!WANTED.test(wanted) || ARCHIVE.test(wanted) || wanted.trim() !== wanted) {
    return refuse("does not name a version, a range or a tag of a registry");
  }
  return { name, wanted };
}

/**
 * @param isNpx - With npx, options end at the first word that is none; `npm exec` takes its options
 * anywhere before `--`.
 */
function readWords(words: readonly string[], isNpx: boolean): NpxCommand | Unpinnable {
  const named: string[] = [];
  const others: string[] = [];
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (word === "--") break;
    const [option = "", value] = splitOption(word);
    if (option === "-p" || option === "--package") named.push(value ?? left.shift() ?? "");
    else if (!word.startsWith("-")) {
      others.push(word);
      if (isNpx) break;
    } else if (!["-y", "--yes", "-q", "--quiet", "--silent"].includes(word)) {
      return { reason: `npm's option "${option.slice(0, 64)}" is not supported here` };
    }
  }
  const positional = [...others, ...left];
  const specs = (named.length > 0 ? named : positional.slice(0, 1)).map(readPackageSpec);
  const args = positional.slice(1);
  if (specs.length === 0) return { reason: "it names no package" };
  if (specs.length > PACKAGES_MAX) return { reason: `it names more than ${PACKAGES_MAX} packages` };
  const packages: PackageSpec[] = [];
  for (const spec of specs) {
    if ("reason" in spec) return spec;
    if (packages.some(({ name }) => name === spec.name))
      return { reason: `it names the package "${spec.name}" twice` };
    packages.push(spec);
  }
  if (named.length === 0) return { packages, args };
  const [program] = positional;
  if (program === undefined || !PROGRAM.test(program))
    return { reason: "after its packages it does not name a program of theirs" };
  return { packages, program, args };
}

/** `--package=x` → `--package`, `x`. */
function splitOption(word: string): readonly [string, string?] {
  const at = word.indexOf("=");
  return word.startsWith("--") && at > 0 ? [word.slice(0, at), word.slice(at + 1)] : [word];
}
