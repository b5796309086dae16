/**
 * Paths: whether a path given to a program that reads it stays inside the project and names no
 * secret. Text only: links are not followed.
 */
import { shown } from "../text/shown.js";
import type { Argument, ArgumentValue } from "./argument.js";
import { review } from "../findings.js";
import type { Report } from "../findings.js";
import type { RunPlace } from "../config/run-place.js";
import { canMatchSecret, isSecretName } from "../secrets/secret-names.js";
import type { Span } from "../parse/tree.js";

/** Why a path needs a person. */
export interface PathProblem {
  readonly ruleId: "path.outside" | "path.secret" | "path.home" | "path.unknown-place";
  readonly message: string;
}

/**
 * Devices that hold nothing of anyone: what a redirection or an operand may name though they are
 * outside.
 */
const HARMLESS_DEVICE = /^\/dev\/(?:null|stdin|stdout|stderr|fd\/\d{1,3})$/;

interface Spot {
  readonly report: Report;
  readonly span: Span;
}

/**
 * Reports a path that a program reads, unless it stays inside the project, or is the system's for
 * everybody, and names no secret.
 */
export function checkPath(value: ArgumentValue, place: RunPlace, at: Spot): void {
  checkPlace(value, place, { ...at, open: SOFTWARE });
}

/**
 * Reports a path of which a program shows the name only: what folders of the system hold is no
 * secret.
 */
export function checkName(value: ArgumentValue, place: RunPlace, at: Spot): void {
  checkPlace(value, place, { ...at, open: SYSTEM });
}

/**
 * Reports a path that has to be inside the project: where a program works, writes, or looks for
 * settings.
 */
export function checkInside(value: ArgumentValue, place: RunPlace, at: Spot): void {
  checkPlace(value, place, { ...at, open: NOWHERE });
}

function checkPlace(
  value: ArgumentValue,
  place: RunPlace,
  { report, span, open }: Spot & { readonly open: RegExp },
): void {
  const problem = pathProblem(value, place);
  if (problem === undefined || (problem.ruleId === "path.outside" && isOpen(value, open))) return;
  report(review("safe-binaries", { ...problem, span }));
}

/**
 * Libraries, headers and documentation that come with installed programs, for everybody to read.
 */
const SOFTWARE =
  /^(?:usr\/(?:local\/)?(?:include|lib(?:32|64|x32|exec)?|share)|Applications\/[^/]+\.app\/Contents)(?:\/|$)/;
/**
 * Folders of the system and its programs, whose names alone tell nothing of anyone. No home, no
 * mount, nothing temporary.
 */
const SYSTEM = /^(?:etc|usr|opt|boot|s?bin|lib(?:32|64|x32)?|System|Applications)(?:\/|$)/;
const NOWHERE = /^(?!)/;
/** Who asks where these are reads them next. */
const SENSITIVE = /passw|shadow|sudoers|private|secret|credential|keytab|ssh|keys?(?![a-z])|token/i;

/** Whether an absolute path leads into such folders and names no secret there. */
function isOpen({ text, isGlob }: ArgumentValue, folders: RegExp): boolean {
  // Links are not followed: behind one of the system's, `..` leads elsewhere.
  const parts =
    text.startsWith("/") && !text.split("/").includes("..") ? normalise([], text) : undefined;
  const path = parts?.join("/") ?? "";
  return (
    folders.test(path) &&
    (folders === SOFTWARE || !SENSITIVE.test(path)) &&
    secretProblem(path, { text, isGlob }) === undefined
  );
}

/**
 * Whether a text is an absolute path to folders of the system: what is listed there is no name of
 * the project's.
 */
export function isOfSystem(text: string): boolean {
  return text.startsWith("/") && SYSTEM.test((normalise([], text) ?? []).join("/"));
}

/**
 * Reports an argument that makes the shell list names outside the project, or of secrets, whatever
 * its program does with them.
 */
export function checkGlob(
  { values, isQuoted, span }: Argument,
  place: RunPlace,
  report: Report,
): void {
  if (isQuoted === true || values === undefined) return;
  for (const value of values) if (value.isGlob) checkPath(value, place, { report, span });
}

/**
 * What is wrong with reading a path, if anything. A text that begins with `~` stands for the home
 * directory (resolve-arguments.ts).
 */
export function pathProblem(value: ArgumentValue, place: RunPlace): PathProblem | undefined {
  const { text } = value;
  if (HARMLESS_DEVICE.test(text)) return undefined;
  if (text.startsWith("~"))
    return {
      ruleId: "path.home",
      message: `${shown(text)} is in a home directory, outside the project`,
    };
  const inside = resolveInside(text, place);
  if (inside === undefined) {
    return isUnknown(text, place)
      ? {
          ruleId: "path.unknown-place",
          message: `It is not known where ${shown(text)} is: the current directory is not known here`,
        }
      : { ruleId: "path.outside", message: `${shown(text)} is outside the project` };
  }
  return secretProblem(inside, value);
}

function secretProblem(inside: string, { text, isGlob }: ArgumentValue): PathProblem | undefined {
  if (isSecretName(inside))
    return { ruleId: "path.secret", message: `${shown(text)} usually holds credentials` };
  if (isGlob && inside.split("/").some((part) => /[*?[]/.test(part) && canMatchSecret(part))) {
    return {
      ruleId: "path.secret",
      message: `${shown(text)} can name files that hold credentials`,
    };
  }
  return undefined;
}

const isUnknown = (text: string, place: RunPlace): boolean =>
  place.inside === undefined && !text.startsWith("/");

/**
 * Where a path leads, relative to the project's root ("" is the root), or undefined where that is
 * outside or not known. `.` and `..` are taken out of the text; a glob counts as one folder.
 */
export function resolveInside(path: string, place: RunPlace): string | undefined {
  const { inside, projectRoot } = place;
  if (path.startsWith("/")) {
    if (projectRoot === undefined) return undefined;
    return below(normalise([], path) ?? [], projectRoot);
  }
  if (inside === undefined) return undefined;
  if (!path.includes("/") && path !== "." && path !== ".." && path !== "")
    return inside === "" ? path : `${inside}/${path}`;
  const direct = normalise(inside === "" ? [] : inside.split("/"), path);
  if (direct !== undefined) return direct.join("/");
  // It leaves the root on its way and may come back, which only the root's own path can tell.
  return projectRoot === undefined
    ? undefined
    : below(normalise([], `${projectRoot}/${inside}/${path}`) ?? [], projectRoot);
}

function below(parts: readonly string[], root: string): string | undefined {
  const rootParts = normalise([], root) ?? [];
  return rootParts.every((part, index) => parts[index] === part)
    ? parts.slice(rootParts.length).join("/")
    : undefined;
}

/**
 * The parts of a path seen from `from`; undefined where it goes above the start of a relative one.
 */
function normalise(from: readonly string[], path: string): readonly string[] | undefined {
  const parts = [...from];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined && !path.startsWith("/")) return undefined;
  }
  return parts;
}
