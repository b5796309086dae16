/**
 * Listing: whether the names that a command prints were chosen so that no secret is among them.
 */
import { SOURCES } from "../../secrets/secret-names.js";
import { leavesNoSecret } from "./choice.js";
import type { Choice } from "./choice.js";
import { findLeavesNoSecret } from "./find-choice.js";
import { SOURCE_TYPES } from "./searches.js";

type Args = readonly (string | undefined)[];

/** Longer calls are not looked into. */
const ARGS_MAX = 600;
const ARG_CHARS_MAX = 100;

/** By program: whether its arguments choose files without secrets. */
const LISTINGS: Readonly<Record<string, (args: readonly string[]) => boolean>> = {
  find: findLeavesNoSecret,
  ls: (args) => areSources(args.filter((arg) => !arg.startsWith("-"))),
  git: (args) => areSources(behindDashes(args)),
  fd: (args) => {
    const endings = valuesOf(args, /^(?:-e|--extension)(?:=|$)/);
    return endings.length > 0 && endings.every(isSource);
  },
  rg: (args) => {
    const globs = valuesOf(args, /^(?:-g|--glob)(?:=|$)/).map(
      (glob): Choice => ({
        takes: !glob.startsWith("!"),
        of: "both",
        glob: glob.replace(/^!/, ""),
      }),
    );
    const types = valuesOf(args, /^(?:-t|--type)(?:=|$)/);
    if (types.length > 0)
      return globs.every(({ takes }) => !takes) && types.every((type) => SOURCE_TYPES.has(type));
    return leavesNoSecret(
      globs,
      globs.every(({ takes }) => !takes),
    );
  },
  grep: (args) => {
    const choices = args.flatMap((arg): readonly Choice[] => {
      const [, option = "", glob] = /^--(include|exclude|exclude-dir)=(.*)$/s.exec(arg) ?? [];
      return glob === undefined
        ? []
        : [
            {
              takes: option === "include",
              of: option === "exclude-dir" ? "folders" : "files",
              glob,
            },
          ];
    });
    return leavesNoSecret(choices, choices.find(({ of }) => of === "files")?.takes !== true);
  },
};

/** Whether the names that a program prints with these arguments are those of no secrets. */
export function choosesNoSecret(program: string, args: Args): boolean {
  if (args.length > ARGS_MAX || !Object.hasOwn(LISTINGS, program)) return false;
  const known = args
    .filter((arg) => arg !== undefined && arg.length <= ARG_CHARS_MAX)
    .map((arg) => arg ?? "");
  return known.length === args.length && LISTINGS[program]?.(known) === true;
}

/** Whether a filter of lines keeps names with the endings of source code only: `grep '\.ts$'`. */
export function keepsSourceNames([program, ...args]: Args): boolean {
  if (
    program === undefined ||
    !/^[ef]?grep$/.test(program) ||
    args.some((arg) => arg === undefined || /^-[A-Za-z]*v/.test(arg))
  )
    return false;
  const pattern = args.find((arg) => arg?.startsWith("-") === false) ?? "";
  const endings = /^\\\.\(?([a-z|]{1,60})\)?\$$/.exec(pattern)?.[1];
  // Without `-E` a `|` is a letter, and no name ends so.
  return (
    program !== "fgrep" &&
    endings !== undefined &&
    endings.split("|").every((ending) => SOURCES.has(ending))
  );
}

const isSource = (ending: string): boolean => SOURCES.has(ending.replace(/^\./, ""));

/** Globs and names that all end like source code. */
function areSources(names: readonly string[]): boolean {
  return (
    names.length > 0 &&
    names.every(
      (name) => /[^/]\.[a-z]+$/.test(name) && isSource(name.slice(name.lastIndexOf(".") + 1)),
    )
  );
}

/** The paths that git is told. */
function behindDashes(args: readonly string[]): readonly string[] {
  const at = args.indexOf("--");
  if (at >= 0) return args.slice(at + 1);
  return args[0] === "ls-files" ? args.slice(1).filter((arg) => !arg.startsWith("-")) : [];
}

function valuesOf(args: readonly string[], option: RegExp): readonly string[] {
  return args.flatMap((arg, index) => {
    if (!option.test(arg)) return [];
    const equals = arg.indexOf("=");
    return equals >= 0 ? [arg.slice(equals + 1)] : [args[index + 1] ?? ""];
  });
}
