/**
 * Names as flags: whether a name that a glob finds may set a flag that a person has to see. `sort
 * *.txt` beside a file `-oREADME.txt` overwrites README.txt; `./*.txt`, and `*.txt` behind `--`,
 * find the same files and no flag.
 */
import { globsMeet } from "../secrets/name-glob.js";
import { SECRET_PROBES } from "../secrets/secret-globs.js";
import type { Argument, ArgumentValue } from "../safe/argument.js";
import { SEARCHES } from "../safe/reach/searches.js";
import type { Flag, FlagNames, Grammar, Operands } from "./flag.js";
import type { Kind } from "./kinds.js";
import type { Style, Topic } from "./table.js";

/**
 * What a name must not bring about. A flag that only waits, or is merely not on the list, harms
 * nobody here.
 */
const HARM: ReadonlySet<Topic> = new Set(["exec", "write", "change", "network", "secret"]);
/** Kinds of values that are programs in a language of their own. */
const CODE: ReadonlySet<Kind> = new Set(["sed", "awk", "jq", "yq"]);
/** Operands that are files. What a glob finds makes no sense as any other. */
const FILES: ReadonlySet<Kind> = new Set([
  "path",
  "path-or-random",
  "named",
  "folder",
  "local",
  "viewed",
  "revision",
  "pattern",
]);

/**
 * Lists of names to read, in the tools of GNU: "file operands cannot be combined with
 * --files0-from".
 */
const REFUSED_BESIDE_FILES: readonly string[] = ["--files0-from"];

/** The names for the flags of one entry. */
export function flagNames(
  flags: ReadonlyMap<string, Flag>,
  { style, operands }: { readonly style: Style | undefined; readonly operands: Operands },
): FlagNames {
  const takesFiles = [...operands.first, operands.rest].some(
    (kind) => kind !== undefined && FILES.has(kind),
  );
  if (!takesFiles && style !== "text" && style !== "first")
    return { harmful: ["-*"], reading: [], readingAlone: [] };
  const isAlone = (flag: Flag): boolean =>
    REFUSED_BESIDE_FILES.some((name) => flags.get(name) === flag);
  const namesOf = (isMeant: (flag: Flag) => boolean): readonly string[] => [
    ...new Set(
      [...flags].flatMap(([name, flag]) => (isMeant(flag) ? spellings(name, flag, style) : [])),
    ),
  ];
  return {
    harmful: namesOf(({ why, kinds }) =>
      why === undefined ? kinds.some((kind) => CODE.has(kind)) : HARM.has(why.topic),
    ),
    reading: namesOf((flag) => flag.why?.topic === "read" && !isAlone(flag)),
    readingAlone: namesOf((flag) => flag.why?.topic === "read" && isAlone(flag)),
  };
}

/**
 * Every word that could set a flag, and some more: shortened, with a value, behind the letters of
 * others.
 */
export function spellings(
  name: string,
  { value }: Flag,
  style: Style | undefined,
): readonly string[] {
  if (style === "text") return [];
  if (style === "words") return value === "none" ? [name] : [name, `${name}=*`];
  if (!name.startsWith("-")) return [name];
  return [name.startsWith("--") ? `${name.slice(0, 3)}*` : `-*${name.slice(1)}*`];
}

/**
 * Whether a name that the argument may stand for sets a flag that runs, writes, or shows what it
 * reads. `given` are the flags before it.
 */
export function mayNameFlag(
  { names, flags }: Grammar,
  argument: Argument,
  { name, given }: { readonly name: string; readonly given: ReadonlySet<Flag> },
): boolean {
  const values = argument.values?.filter(beginsAnyhow) ?? [];
  if (values.length === 0) return false;
  if (values.some(({ text }) => names.harmful.some((form) => globsMeet(text, form)))) return true;
  const { reading, readingAlone } = names;
  if (reading.length + readingAlone.length === 0 || showsNoLine(name, flags, given)) return false;
  return values.some(
    (value) =>
      namesAFile(value) &&
      (reading.some((form) => globsMeet(value.text, form)) ||
        (value.hasCompany !== true && readingAlone.some((form) => globsMeet(value.text, form)))),
  );
}

/** Whether a name may begin with any letter. */
export function beginsAnyhow({ text, isGlob }: ArgumentValue): boolean {
  return isGlob && /^[*?[]/.test(text);
}

/** Whether a search was told to show names or counts: then nobody sees its patterns either. */
function showsNoLine(name: string, flags: Grammar["flags"], given: ReadonlySet<Flag>): boolean {
  const search = Object.hasOwn(SEARCHES, name) ? SEARCHES[name] : undefined;
  return search?.names.split(" ").some((each) => given.has(flags.get(each) ?? NONE)) === true;
}

const NONE: Flag = { value: "none", kinds: ["text"] };

/**
 * Whether behind `--file=` a name may go on with a file elsewhere, or with one that holds
 * credentials. A folder is none.
 */
function namesAFile({ text }: ArgumentValue): boolean {
  if (text.endsWith("/")) return text.indexOf("/") < text.length - 1;
  if (text.includes("/")) return true;
  const end = /[^*?\]]*$/.exec(text)?.[0] ?? "";
  return SECRET_PROBES.some((probe) => probe.endsWith(end) && !probe.includes("/"));
}
