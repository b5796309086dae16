/**
 * Reach: whether a program that reads many files at once can show a secret among them. One that
 * shows names or counts cannot, nor one whose files are chosen without secrets, nor a search for
 * letters that no secret holds. Reports what is left, with the options that leave secrets out where
 * the program has such.
 */
import { globsMeet } from "../../secrets/name-glob.js";
import { SECRET_PROBES } from "../../secrets/secret-globs.js";
import { SOURCES } from "../../secrets/secret-names.js";
import type { Argument, ArgumentValue } from "../argument.js";
import { say } from "../../tables/judged-call.js";
import type { JudgedCall } from "../../tables/judged-call.js";
import type { Flag, Grammar, Operands } from "../../tables/flag.js";
import type { Kind } from "../../tables/kinds.js";
import { beginsAnyhow, spellings } from "../../tables/names-as-flags.js";
import { reportMaybeFlag } from "../../tables/scan.js";
import type { Scan } from "../../tables/scan.js";
import { resolveInside } from "../paths.js";
import { globMayNameSecret, isInSecretFolder, leavesNoSecret } from "./choice.js";
import type { Choice } from "./choice.js";
import { excludesFor } from "./excludes.js";
import { missesSecrets } from "./pattern.js";
import { SEARCHES, SOURCE_TYPES, TELLS_NAMES } from "./searches.js";
import type { Search } from "./searches.js";

/** A call, scanned. */
export interface Reading {
  readonly args: readonly Argument[];
  readonly found: Scan;
  readonly wanted: Operands;
  readonly grammar: Grammar;
}

const CONTENT: ReadonlySet<Kind | undefined> = new Set([
  "path",
  "path-or-random",
  "viewed",
  "local",
]);
const MANY = "reads many files, among which may be some that hold credentials";
/** Endings that a file has and hardly any folder. */
const FILE_ENDINGS: ReadonlySet<string> = new Set([
  ...SOURCES,
  ...SECRET_PROBES.map((path) => /\.([a-z]+)$/.exec(path)?.[1] ?? "ts"),
  ..."txt json yaml yml toml lock log csv tex bib ipynb sql svg map diff patch out".split(" "),
]);

/** Reports a call that may show a secret out of many files. */
export function checkReach(reading: Reading, of: JudgedCall): void {
  if (!of.isShown || TELLS_NAMES.has(of.name)) return;
  const search = Object.hasOwn(SEARCHES, of.name) ? SEARCHES[of.name] : undefined;
  const { found } = reading;
  const files = filesOf(reading, search);
  const broad = broadOf(files, isInSecretFolder(of.place.inside ?? ""));
  const folders = search === undefined ? undefined : foldersOf(search, files, { reading, of });
  if (broad.length === 0 && folders === undefined) return;
  if (search !== undefined && isGiven(search.names, reading)) return;
  const choices = search === undefined ? [] : choicesOf(search, found, reading.grammar);
  const isAmong = folders !== undefined && startsAmongSecrets(folders, of);
  const isChosen =
    search?.choice !== undefined &&
    !isAmong &&
    leavesNoSecret(choices, takesByDefault(search.choice.byDefault, choices));
  if (
    search !== undefined &&
    ((isChosen && broad.length === 0) || searchesHarmless(search, reading))
  ) {
    const loosened = found.maybeFlags.find((argument) =>
      mayLoosen(argument, search, reading.grammar),
    );
    return loosened === undefined ? undefined : reportMaybeFlag(of, loosened);
  }
  const excludes = isAmong
    ? undefined
    : folders === undefined || isChosen
      ? []
      : excludesFor(of, lastChoice(search, reading));
  const sifts = broad.flatMap(({ values }) =>
    (values ?? []).filter((value) => isBroad(value)).map(({ sift }) => sift),
  );
  const edits = [...(excludes ?? []), ...sifts.flatMap((sift) => sift ?? [])];
  const isMendable =
    excludes !== undefined &&
    !sifts.includes(undefined) &&
    !isInSecretFolder(of.place.inside ?? "");
  const at = broad[0] ?? folders?.[0];
  const what = at === undefined ? of.name : `${of.name} ${at.raw}`;
  say(
    of,
    { topic: "secret", text: MANY },
    { span: at?.span ?? of.span, what, ...(isMendable ? { edits } : {}) },
  );
}

/** The operands that are files, or selections of git. */
function filesOf({ found, wanted }: Reading, search: Search | undefined): readonly Argument[] {
  const isOfGit = search !== undefined && wanted.rest === "revision";
  return found.operands.filter((_, index) => {
    const kind = wanted.first[index] ?? wanted.rest;
    return CONTENT.has(kind) || (isOfGit && kind === "revision");
  });
}

/**
 * Whether it starts in a folder of secrets: what leaves such folders out by their names leaves out
 * none of what is in it.
 */
function startsAmongSecrets(folders: readonly Argument[], { place }: JudgedCall): boolean {
  const starts =
    folders.length === 0
      ? ["."]
      : folders.flatMap(({ values }) => values?.map(({ text }) => text) ?? []);
  return starts.some((text) => isInSecretFolder(resolveInside(text, place) ?? text));
}

/**
 * The files that may be secrets, up to the first that nothing can mend; of those in a folder of
 * secrets any may be.
 */
function broadOf(files: readonly Argument[], isAmong: boolean): readonly Argument[] {
  const broad: Argument[] = [];
  for (const file of files) {
    const found = file.values?.filter((value) => isBroad(value) || (isAmong && value.isGlob)) ?? [];
    if (found.length === 0) continue;
    broad.push(file);
    if (isAmong || found.some(({ sift }) => sift === undefined)) return broad;
  }
  return broad;
}

/**
 * A glob, or names that something prints, that may be one of a secret. A part of a name is any
 * path, outside of the project too.
 */
function isBroad({ text, isGlob, isSifted, isTorn }: ArgumentValue): boolean {
  return isGlob && (isTorn === true || (isSifted !== true && globMayNameSecret(text)));
}

/** The folders that it goes through; the empty list is where it is. */
function foldersOf(
  { folders, readsInput }: Search,
  files: readonly Argument[],
  { reading, of }: { readonly reading: Reading; readonly of: JudgedCall },
): readonly Argument[] | undefined {
  const isRecursive = folders === "always" || isGiven(folders, reading);
  if (files.length === 0) return isRecursive && !(readsInput === true && of.isFed) ? [] : undefined;
  const found = files.filter(({ values = [] }) =>
    values.some(({ text }) => (isRecursive ? mayBeFolder(text) : /(?:^|\/)\.{0,2}$/.test(text))),
  );
  return found.length === 0 || (!isRecursive && of.name !== "diff") ? undefined : found;
}

function mayBeFolder(text: string): boolean {
  if (text === "-" || text.startsWith("/dev/fd/")) return false;
  const [, ending] = /[^/.]\.([A-Za-z0-9]+)$/.exec(text) ?? [];
  return ending === undefined || !FILE_ENDINGS.has(ending.toLowerCase());
}

function flagsOf(names: string, { flags }: Grammar): ReadonlySet<Flag> {
  return new Set(names.split(" ").flatMap((name) => flags.get(name) ?? []));
}

function isGiven(names: string, { found, grammar }: Reading): boolean {
  for (const flag of flagsOf(names, grammar)) if (found.given.has(flag)) return true;
  return false;
}

/** Whether what is searched for is in no secret. */
function searchesHarmless({ pattern }: Search, reading: Reading): boolean {
  if (pattern === undefined) return false;
  const { args, found, grammar, wanted } = reading;
  // `-3` is context too.
  if (isGiven(pattern.loose, reading) || args.some(({ leading }) => /^-\d/.test(leading)))
    return false;
  const flags = flagsOf(pattern.flag, grammar);
  const given = found.values.filter(({ flag }) => flags.has(flag)).map(({ argument }) => argument);
  const patterns =
    given.length > 0 ? given : found.operands.slice(0, wanted.first[0] === "pattern" ? 1 : 0);
  const dialects = Object.entries(pattern.dialects ?? {}).filter(([name]) =>
    isGiven(name, reading),
  );
  const dialect = dialects.length > 1 ? undefined : (dialects[0]?.[1] ?? pattern.dialect);
  return (
    dialect !== undefined &&
    patterns.length > 0 &&
    patterns.every(
      ({ values }) =>
        values?.every(({ text, isGlob }) => !isGlob && missesSecrets(text, dialect)) === true,
    )
  );
}

/**
 * Whether a name may be an option with which the search shows other lines, or lines of other files:
 * `-v`, `-e.`, `--include=.env`.
 */
function mayLoosen(
  { values = [] }: Argument,
  { pattern, choice }: Search,
  { flags, binary }: Grammar,
): boolean {
  const { include = "", globs = "", lastGlobs = "", types = "" } = choice ?? {};
  const names = [pattern?.loose, pattern?.flag, include, globs, lastGlobs, types]
    .join(" ")
    .split(/\s+/);
  const forms = names.flatMap((name) =>
    namesOf(name, flags).flatMap(([each, flag]) => spellings(each, flag, binary.style)),
  );
  return values.some(
    (value) => beginsAnyhow(value) && forms.some((form) => globsMeet(value.text, form)),
  );
}

/** A flag under all its names. */
function namesOf(name: string, flags: Grammar["flags"]): readonly (readonly [string, Flag])[] {
  const flag = flags.get(name);
  return flag === undefined ? [] : [...flags].filter(([, each]) => each === flag);
}

function choicesOf(
  { choice = { byDefault: "always" } }: Search,
  { values }: Scan,
  grammar: Grammar,
): readonly Choice[] {
  const {
    include = "",
    exclude = "",
    excludeFolder = "",
    globs = "",
    lastGlobs = "",
    types = "",
  } = choice;
  const [included, excluded, folders, both, last, typed] = [
    include,
    exclude,
    excludeFolder,
    globs,
    lastGlobs,
    types,
  ].map((names) => flagsOf(names, grammar));
  const hasOwnTypes = flagsOf("--type-add --type-clear", grammar);
  const isUsual = !values.some(({ flag }) => hasOwnTypes.has(flag));
  const isLast = ({ flag }: Scan["values"][number]): boolean => last?.has(flag) === true;
  const choices = [...values.filter((value) => !isLast(value)), ...values.filter(isLast)].flatMap(
    ({ flag, argument }): readonly Choice[] => {
      const texts = argument.values?.map(({ text }) => text) ?? ["*"];
      const each = (takes: boolean, where: Choice["of"]): readonly Choice[] =>
        texts.map((glob) => ({ takes, of: where, glob }));
      if (excluded?.has(flag) === true)
        return each(false, folders?.has(flag) === true ? "both" : "files");
      if (folders?.has(flag) === true) return each(false, "folders");
      if (included?.has(flag) === true) return each(true, "files");
      if (both?.has(flag) !== true && last?.has(flag) !== true) return [];
      return texts.map(
        (text): Choice => ({
          takes: !text.startsWith("!"),
          of: "both",
          glob: text.replace(/^!/, ""),
        }),
      );
    },
  );
  // A glob counts more than a type, wherever it stands.
  return [
    ...values
      .filter(({ flag }) => typed?.has(flag) === true)
      .flatMap(({ argument }) => argument.values?.map(({ text }) => text) ?? ["*"])
      .map(
        (text): Choice => ({
          takes: true,
          of: "files",
          glob: isUsual && SOURCE_TYPES.has(text) ? "*.ts" : "*",
        }),
      ),
    ...choices,
  ];
}

/** The last option of the call's own that chooses files. */
function lastChoice(search: Search | undefined, { found, grammar }: Reading): Argument | undefined {
  const {
    include = "",
    exclude = "",
    excludeFolder = "",
    globs = "",
    lastGlobs = "",
  } = search?.choice ?? {};
  const flags = flagsOf([include, exclude, excludeFolder, globs, lastGlobs].join(" "), grammar);
  return found.values.findLast(({ flag }) => flags.has(flag))?.argument;
}

function takesByDefault(
  rule: NonNullable<Search["choice"]>["byDefault"],
  choices: readonly Choice[],
): boolean {
  if (rule === "always") return true;
  const own = choices.filter(({ of }) => of !== "folders");
  return rule === "unless-any" ? own.every(({ takes }) => !takes) : own[0]?.takes !== true;
}
