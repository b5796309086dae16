/**
 * Searches: how the programs that go through whole folders are told what to show and what to leave
 * out, as data. Their flags are those of their tables; everything here is about how far they reach.
 */
import type { Dialect } from "./pattern.js";

/** A program that searches or compares many files. */
export interface Search {
  /** It goes through folders with one of these flags, or `always`. */
  readonly folders: string;
  /** Flags with which it shows names or counts and no line. */
  readonly names: string;
  /** Where it is fed by a pipe and has no operand, it reads only that. */
  readonly readsInput?: true;
  readonly pattern?: {
    /** Flags whose value is one; without them the first operand is. */
    readonly flag: string;
    readonly dialect: Dialect;
    readonly dialects?: Readonly<Record<string, Dialect>>;
    /** Flags with which it shows lines that do not match. */
    readonly loose: string;
  };
  /**
   * Flags that choose files, by their role. A glob of `globs` leaves out where it begins with `!`.
   */
  readonly choice?: {
    readonly include?: string;
    readonly exclude?: string;
    readonly excludeFolder?: string;
    readonly globs?: string;
    /** Globs that count more than all others, wherever they stand. */
    readonly lastGlobs?: string;
    readonly types?: string;
    /**
     * Names that no option matches are taken: unless the first option takes some in, or any does.
     */
    readonly byDefault: "unless-first" | "unless-any" | "always";
  };
}

const CONTEXT = "-v -A -B -C";
const GREP: Search = {
  folders: "-r -R -d",
  names: "-l -L -c -q",
  pattern: {
    flag: "-e",
    dialect: "basic",
    dialects: { "-E": "extended", "-P": "extended", "-F": "fixed" },
    loose: `${CONTEXT} -z`,
  },
  choice: {
    include: "--include",
    exclude: "--exclude",
    excludeFolder: "--exclude-dir",
    byDefault: "unless-first",
  },
};
const NO_LINES =
  "--stat --shortstat --numstat --dirstat --summary --name-only --name-status --raw --quiet -s --no-patch --check";

/** By the name under which a call is reported. */
export const SEARCHES: Readonly<Record<string, Search>> = {
  grep: GREP,
  egrep: {
    ...GREP,
    pattern: {
      flag: "-e",
      dialect: "extended",
      dialects: { "-F": "fixed" },
      loose: `${CONTEXT} -z`,
    },
  },
  fgrep: {
    ...GREP,
    pattern: {
      flag: "-e",
      dialect: "fixed",
      dialects: { "-E": "extended" },
      loose: `${CONTEXT} -z`,
    },
  },
  rg: {
    folders: "always",
    names: "-l --files-without-match -c --count-matches --files -q --type-list",
    readsInput: true,
    pattern: {
      flag: "-e",
      dialect: "extended",
      dialects: { "-F": "fixed" },
      loose: `${CONTEXT} -U --multiline-dotall --null-data --passthru`,
    },
    choice: { globs: "-g", lastGlobs: "--iglob", types: "-t", byDefault: "unless-any" },
  },
  ag: {
    folders: "always",
    names: "-c -l -L -g --list-file-types",
    readsInput: true,
    pattern: { flag: "", dialect: "fixed", loose: `${CONTEXT} --passthrough -a` },
  },
  ack: {
    folders: "always",
    names: "-c -l -L -f -g --help-types",
    readsInput: true,
    pattern: { flag: "", dialect: "extended", dialects: { "-Q": "fixed" }, loose: CONTEXT },
  },
  ugrep: {
    folders: "always",
    names: "-c -l -L -q",
    readsInput: true,
    pattern: { flag: "-e", dialect: "fixed", loose: CONTEXT },
  },
  "git grep": {
    folders: "--no-index --untracked",
    names: "-l -L -c -q",
    pattern: {
      flag: "-e",
      dialect: "either",
      dialects: { "-E": "extended", "-P": "extended", "-F": "fixed", "-G": "basic" },
      loose: `${CONTEXT} --not -p -W`,
    },
  },
  diff: {
    folders: "-r",
    names: "-q",
    choice: { exclude: "-x", excludeFolder: "-x", byDefault: "always" },
  },
  "git diff": { folders: "--no-index", names: NO_LINES },
};

/** Programs that show names, sizes, counts or sums of files, and never a line of them. */
export const TELLS_NAMES: ReadonlySet<string> = new Set(
  (
    "ls dir vdir eza exa lsd stat file du tree realpath readlink namei find fd fdfind wc md5sum sha1sum sha224sum sha256sum sha384sum sha512sum " +
    "b2sum shasum md5 cksum sum who lsof help unzip zipinfo size basename dirname echo printf test"
  ).split(" "),
);

/** Types of `rg -t` that are source code or prose. */
export const SOURCE_TYPES: ReadonlySet<string> = new Set(
  (
    "c cpp cs csharp css dart elixir erlang go haskell html java js kotlin less lua markdown md mdx perl php py python r ruby rust sass scala " +
    "swift ts typescript vue zig"
  ).split(" "),
);
