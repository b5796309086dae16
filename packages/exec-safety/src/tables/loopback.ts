/**
 * Loopback: whether a call of `curl` only asks a server of this machine, on a port that a person
 * has named, and shows the answer. No data, no files, no redirections, no proxies: everything else
 * is for the table, which asks.
 */
import { textOf } from "../safe/argument.js";
import type { ProgramCall } from "../safe/argument.js";
import type { RunPlace } from "../config/run-place.js";

/**
 * Flags that change only what of the answer is shown, or how long it may take; in clusters as well.
 */
const LETTERS = /^-[sSfiIvgN46#]+$/;
const WORDS: ReadonlySet<string> = new Set(
  "--silent --show-error --fail --fail-with-body --include --head --verbose --globoff --no-buffer --ipv4 --ipv6 --compressed".split(
    " ",
  ),
);
/** Flags with a value, and what it may be. */
const VALUES: readonly (readonly [flag: RegExp, value: RegExp])[] = [
  [/^(?:-m|--max-time|--connect-timeout|--retry|--retry-delay)$/, /^\d{1,4}(?:\.\d{1,3})?$/],
  [/^(?:-X|--request)$/, /^(?:GET|HEAD)$/],
  [/^(?:-H|--header)$/, /^(?:accept|accept-language|user-agent|cache-control): ?[\w ./*;,=+-]*$/i],
  [/^(?:-o|--output)$/, /^\/dev\/(?:null|stdout)$/],
  // `%output{…}` writes a file, `@…` reads one.
  [/^(?:-w|--write-out)$/, /^(?:%\{[a-z_]+\}|\\[nt]|[\w\s:=.,|/-])*$/],
];
/**
 * A letter or word with its value in the next argument, alone or at the end of a cluster: `-so`.
 */
const CLUSTER = /^(-[sSfiIvgN46#]*)([mXHow])$/;
/** Braces and brackets stand for several addresses; what stands before `@` is not the host. */
const ADDRESS =
  /^(?:http:\/\/)?(?:localhost|127\.0\.0\.1|\[::1\]):(\d{1,5})(?:[/?#][^\s{}[\]\\@]*)?$/i;

/** Whether a call of `curl` only asks ports of this machine that a person has named. */
export function asksLoopbackOnly(
  { program, args }: ProgramCall,
  { loopbackPorts = [] }: RunPlace,
): boolean {
  if (program !== "curl" || loopbackPorts.length === 0) return false;
  const texts = args.map(textOf);
  let addresses = 0;
  for (let at = 0; at < texts.length; at += 1) {
    const text = texts[at];
    if (text === undefined) return false;
    if (!text.startsWith("-")) {
      const port = ADDRESS.exec(text)?.[1];
      if (port === undefined || !loopbackPorts.includes(Number(port))) return false;
      addresses += 1;
    } else if (!LETTERS.test(text) && !WORDS.has(text)) {
      const letter = CLUSTER.exec(text)?.[2];
      const name = letter === undefined ? text : `-${letter}`;
      const wanted = VALUES.find(([flag]) => flag.test(name))?.[1];
      at += 1;
      if (wanted?.test(texts[at] ?? "\0") !== true) return false;
    }
  }
  return addresses > 0;
}
