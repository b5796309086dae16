/**
 * Choice: which of many files a program takes, by their names, and whether a secret may be among
 * them. Pure; the names are those of guard/secret-globs.ts.
 */
import { matchesGlob } from "../../secrets/name-glob.js";
import { SECRET_FOLDERS, SECRET_PROBES } from "../../secrets/secret-globs.js";

/** One option that takes files in or leaves them out: `--include=*.ts`, `-g '!*.pem'`. */
export interface Choice {
  readonly takes: boolean;
  /** Where the name is one of a folder, with everything in it, only or as well. */
  readonly of: "files" | "folders" | "both";
  readonly glob: string;
}

const CHOICES_MAX = 256;
const GLOB_CHARS_MAX = 200;
const ALTERNATIVES_MAX = 64;
const PROBES: readonly (readonly string[])[] = SECRET_PROBES.map((path) => path.split("/"));
/** Folders of the project's own descriptions, which are public in any case. */
const PUBLIC = /(?:^|\/)\.github\//;

const FOLDERS: ReadonlySet<string> = new Set(SECRET_FOLDERS.map((name) => name.toLowerCase()));

/**
 * Whether a path leads into a folder of secrets: who starts there leaves nothing out by that
 * folder's name.
 */
export function isInSecretFolder(path: string): boolean {
  return path
    .toLowerCase()
    .split("/")
    .some(
      (part) =>
        FOLDERS.has(part) ||
        (/[*?[{]/.test(part) && SECRET_FOLDERS.some((name) => takesVisible(part, name))),
    );
}

/** Whether the choices leave no secret. `byDefault`: a file that none of them matches is taken. */
export function leavesNoSecret(choices: readonly Choice[], byDefault: boolean): boolean {
  if (
    choices.length === 0 ||
    choices.length > CHOICES_MAX ||
    choices.some(({ glob }) => glob.length > GLOB_CHARS_MAX)
  )
    return false;
  const expanded = choices.flatMap((choice) =>
    bracesOf(choice).map((glob) => ({ ...choice, glob: lastPart(glob, choice) })),
  );
  return !PROBES.some((probe) => isTaken(probe, expanded, byDefault));
}

function isTaken(
  probe: readonly string[],
  choices: readonly Choice[],
  byDefault: boolean,
): boolean {
  const file = probe.at(-1) ?? "";
  const isLeftOut = choices.some(
    ({ takes, of, glob }) =>
      !takes && of !== "files" && probe.slice(0, -1).some((folder) => matchesGlob(glob, folder)),
  );
  return (
    !isLeftOut &&
    (choices.findLast(({ of, glob }) => of !== "folders" && matchesGlob(glob, file))?.takes ??
      byDefault)
  );
}

/**
 * What it matches names with. Only a glob for folders at any depth leaves something out by a path.
 */
function lastPart(glob: string, { takes }: Choice): string {
  if (!takes) return glob.replace(/^\*\*\//, "").replace(/\/(?:\*\*)?$/, "");
  const last = glob.toLowerCase().slice(glob.lastIndexOf("/") + 1);
  return last === "" ? "*" : last;
}

/** The globs that `*.{ts,tsx}` stands for. */
function bracesOf({ glob, takes }: Choice): readonly string[] {
  let globs: readonly string[] = [glob];
  while (globs.some((each) => each.includes("{"))) {
    globs = globs.flatMap((each) => {
      const [, before = "", inside, behind = ""] = /^([^{]*)\{([^{}]*)\}(.*)$/s.exec(each) ?? [];
      if (inside === undefined) return each.includes("{") ? (takes ? ["*"] : []) : [each];
      return inside.split(",").map((part) => before + part + behind);
    });
    if (globs.length > ALTERNATIVES_MAX) return takes ? ["*"] : [];
  }
  return globs;
}

/**
 * Whether a path with a glob, as the shell expands it, may name a secret. Every part but the last
 * is a folder.
 */
export function globMayNameSecret(text: string): boolean {
  if (PUBLIC.test(text)) return false;
  if (text.length > GLOB_CHARS_MAX) return true;
  const parts = text
    .toLowerCase()
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  if (!parts.some((part) => /[*?[]/.test(part))) return false;
  return PROBES.some((probe) => {
    const shown = parts.slice(-probe.length);
    return (
      shown.length === probe.length &&
      probe.every((name, index) => takesVisible(shown[index] ?? "", name))
    );
  });
}

/** A leading dot has to be written out for the shell. */
const takesVisible = (glob: string, name: string): boolean =>
  (!name.startsWith(".") || glob.startsWith(".")) && matchesGlob(glob, name);
