/**
 * Site: where paths lead. Roots that are not known have private names, so that every path is an
 * absolute text and `..` works on all of them.
 */
import type { RunPlace } from "../config/run-place.js";
import { UNKNOWN, UNSET } from "./feed.js";

/** Where a line runs. */
export interface Site {
  /** The project's root, known or by a private name. */
  readonly project: string;
  /** The home directory, known or by a private name. */
  readonly home: string;
  /** Current directory; `undefined` where it is not known. */
  readonly directory: string | undefined;
}

/** What kind of place a path is for somebody who is about to destroy it. */
export type PathKind =
  /** `/` or everything in it. */
  | "root"
  /** A home directory or everything in it. */
  | "home"
  /** Part of the operating system. */
  | "system"
  /** The project's root, everything in it, or a folder above it. */
  | "project"
  | "inside"
  | "outside"
  | "unknown";

const PRIVATE_PROJECT = "/\uE002/project";
const PRIVATE_HOME = "/home/\uE002";
const ELSEWHERE = "/\uE003/elsewhere";

/** Folders of the root whose whole content is the operating system's. */
const SYSTEM: ReadonlySet<string> = new Set(
  "bin boot dev efi etc lib lib32 lib64 libx32 proc sbin sys usr System Library".split(" "),
);
/** Folders that may hold anything, but are themselves the system's. */
const TOP_FOLDERS: ReadonlySet<string> = new Set(
  "var opt srv tmp mnt media run snap Applications Volumes private var/lib var/log var/spool var/cache var/www usr/local usr/src nix".split(
    " ",
  ),
);
const HOMES: ReadonlySet<string> = new Set(["home", "Users"]);

/** A name in the current directory: most operands are one. */
const PLAIN_NAME = /^[\w-][\w.-]{0,99}$/;

/** The site of a place. */
export function siteOf({ inside, projectRoot }: RunPlace): Site {
  const project = projectRoot === undefined ? PRIVATE_PROJECT : normalise(projectRoot);
  const [, top = "", user = ""] = project.split("/");
  const home =
    HOMES.has(top) && user !== "" ? `/${top}/${user}` : top === "root" ? "/root" : PRIVATE_HOME;
  return {
    project,
    home,
    directory: inside === undefined ? ELSEWHERE : normalise(`${project}/${inside}`),
  };
}

/**
 * The absolute path, or undefined where it is not known. A leading `~` has to be replaced before.
 */
export function resolvePath(text: string, site: Site): string | undefined {
  if (text.startsWith("/")) return normalise(text);
  if (
    text === "" ||
    text.startsWith(UNKNOWN) ||
    text.startsWith(UNSET) ||
    site.directory === undefined
  )
    return undefined;
  return normalise(`${site.directory}/${text}`);
}

const isWithin = ({ directory, project }: Site): boolean =>
  directory === project || directory?.startsWith(`${project}/`) === true;

/** Without `.`, `..`, empty parts and a final slash. */
function normalise(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** What kind of place a text names. */
export function kindOf(text: string, site: Site): PathKind {
  if (PLAIN_NAME.test(text) && site.project !== "/" && isWithin(site)) return "inside";
  const path = resolvePath(text, site);
  return path === undefined ? "unknown" : kindOfPath(path, site);
}

/** What kind of place an absolute path is. */
export function kindOfPath(path: string, { project, home }: Site): PathKind {
  const whole = withoutEverything(path);
  if (whole === "/") return "root";
  if (whole === home || isHome(whole)) return "home";
  if (whole === project || project.startsWith(`${whole}/`)) return "project";
  if (whole.startsWith(`${project}/`)) return "inside";
  return isSystem(whole) ? "system" : "outside";
}

/** A final `*`, `.*` or `*.*` names everything in the folder: the folder itself is meant. */
function withoutEverything(path: string): string {
  let end = path.length;
  for (;;) {
    const slash = path.lastIndexOf("/", end - 1);
    if (slash < 0 || !isEverything(path.slice(slash + 1, end))) break;
    end = slash;
  }
  return end === 0 ? "/" : path.slice(0, end);
}

function isEverything(part: string): boolean {
  return (part.includes("*") && /^[*?.]+$/.test(part)) || part === ".[!.]*" || part === ".[^.]*";
}

function isHome(path: string): boolean {
  const [, top = "", user, ...more] = path.split("/");
  if (top === "root") return user === undefined;
  return HOMES.has(top) && more.length === 0;
}

function isSystem(path: string): boolean {
  const [, top = "", ...rest] = path.startsWith("/private/")
    ? path.slice("/private".length).split("/")
    : path.split("/");
  if (/[*?[]/.test(top)) return true;
  if (TOP_FOLDERS.has(rest.length === 0 ? top : `${top}/${rest.join("/")}`)) return true;
  return SYSTEM.has(top) && !(top === "usr" && (rest[0] === "local" || rest[0] === "src"));
}

/** The path below a home directory, or undefined. */
export function belowHome(path: string, { home }: Site): string | undefined {
  if (path.startsWith(`${home}/`)) return path.slice(home.length + 1);
  const [, top = "", user, ...rest] = path.split("/");
  if (top === "root") return [user, ...rest].join("/");
  return HOMES.has(top) && rest.length > 0 ? rest.join("/") : undefined;
}
