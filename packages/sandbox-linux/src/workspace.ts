/**
 * Workspace: which directories of the host an agent may see. Nothing that would give away more than
 * was meant: not the whole system, not a person's whole home, nothing that holds or lies in what
 * must stay hidden. Judged by real paths, as the kernel will see them.
 */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { opendir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { ConsentError } from "@acp/core";
import type { AgentView, ConfinementOptions, Workspace } from "./parts.js";
import { codePlaces } from "./helper-directory.js";
import { followOwnSteps } from "./own-steps.js";
import { sessionsDirectory } from "./session.js";

/** What an agent may see of the host, by real paths. */
export interface VisiblePlaces {
  readonly workspace: Workspace | undefined;
  readonly readable: readonly string[];
  /** Besides the workspace, for writing. */
  readonly writable?: readonly string[];
  /** The private home, where it stays. */
  readonly home?: string;
  /** A directory of the manager's own, for reading. */
  readonly packages?: string;
  /** What of the workspace is empty inside. */
  readonly covered?: readonly string[];
  /** Where their names lead, where that is not what they lead to on the host. */
  readonly view?: AgentView;
  /** Must stay invisible even where a place that shows the system holds them. */
  readonly hidden: readonly string[];
  /** What runs outside, which the agent may see and never change. */
  readonly programs: readonly string[];
}

/** This package: what it loads and shows is trusted by everybody who uses it. */
const OWN_PACKAGE = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/u, "");

/**
 * Parts of the system that are never a workspace, nor anything in them: devices, kernel interfaces,
 * other programs' sockets and state.
 */
const SYSTEM = ["/boot", "/dev", "/proc", "/run", "/sys", "/var/run"];
/** Not as a whole. */
const WHOLES = [
  "/",
  "/etc",
  "/home",
  "/media",
  "/mnt",
  "/opt",
  "/root",
  "/srv",
  "/tmp",
  "/usr",
  "/usr/local",
  "/var",
  "/var/lib",
  "/var/tmp",
];
/** Not for writing, nor anything in them. */
const PROGRAMS = ["/bin", "/etc", "/lib", "/lib32", "/lib64", "/sbin", "/usr"];

/**
 * Checks what an agent may see.
 *
 * @param canOverlay - Whether the backend can keep apart what the agent writes, or show what was.
 * @throws ConsentError `options_invalid` for a place that is not a directory, is too much, or holds
 *   or lies in a hidden one.
 */
export function checkPlaces(options: ConfinementOptions, canOverlay = false): VisiblePlaces {
  const {
    workspace,
    readable = [],
    writable = [],
    home,
    packages,
    hidden = [],
    programs = [],
    view,
  } = options;
  if (workspace?.access === "overlay") checkOverlay(workspace, { hidden, canOverlay });
  if (view !== undefined && !canOverlay)
    throw refused(view.workspace, "only namespace can show what another agent sees");
  // What of ours an agent must neither see nor change: by what it writes there it would run
  // outside.
  const own = [sessionsDirectory(), ...codePlaces()].map(realOrGiven);
  const kept = [...hidden.map(realOrGiven), ...own];
  const ours = [OWN_PACKAGE, process.execPath, ...programs].map(realOrGiven);
  const homes = homeDirectories();
  const check = (path: string, access: Workspace["access"], follow?: Following): string => {
    const real = realDirectory(path, follow);
    const why = whyNotShown(real, { access, homes, hidden: kept });
    if (why !== undefined) throw refused(path, why);
    return real;
  };
  const work =
    workspace === undefined
      ? undefined
      : rooted(workspace, check(workspace.path, workspace.access));
  const written = writable.map((path) => check(path, "read-write", followOwnSteps));
  for (const path of [...(work === undefined ? [] : [work.path]), ...written])
    refuseOverlap(path, ours);
  const twice = written.find((path) => work?.access === "overlay" && overlap(path, work.path));
  if (twice !== undefined)
    throw refused(twice, "it would be written, and the workspace is to stay as it is");
  const given = readable.map((path) => check(path, "read-only", followOwnSteps));
  // An overlay shows what lies in its workspace already, and under a name of the host there is no
  // other.
  const read =
    work?.access === "overlay" ? given.filter((path) => !liesIn(path, work.path)) : given;
  const covered = checkCovered(options.covered ?? [], work);
  const all = {
    workspace: work,
    programs: ours,
    readable: read,
    writable: written,
    hidden: kept,
    covered,
  };
  const shown = view === undefined ? all : withView(all, view);
  const withHome =
    home === undefined ? shown : { ...shown, home: checkHome(home, shown, { homes, own }) };
  return packages === undefined
    ? withHome
    : { ...withHome, packages: checkPackages(packages, withHome, { homes, own }) };
}

/**
 * @throws ConsentError `options_invalid` for what is no place in the workspace: its cover would be
 * made somewhere else.
 */
function checkCovered(
  covered: readonly string[],
  workspace: Workspace | undefined,
): readonly string[] {
  for (const path of covered) {
    const isWithin =
      workspace !== undefined && path !== workspace.path && liesIn(path, workspace.path);
    if (!isWithin || realOrGiven(path) !== path)
      throw new ConsentError(
        "options_invalid",
        `Cannot cover "${path}": it is not a real path in the workspace`,
      );
  }
  return covered;
}

/**
 * Of what is shown nothing may be in the workspace below the overlay, where it would be written
 * past the review, or be read without what the agent wrote.
 */
function withView(places: VisiblePlaces, view: AgentView): VisiblePlaces {
  if (places.workspace?.access === "overlay")
    throw refused(view.workspace, "another agent works in an overlay of it already");
  return shownPlaces(places).some((path) => overlap(path, view.workspace))
    ? { ...places, view }
    : places;
}

/** It may lie in a hidden place; not where an agent could write. */
function checkPackages(path: string, places: VisiblePlaces, { homes, own }: HomeJudging): string {
  const real = realDirectory(path);
  const why = whyNotShown(real, { access: "read-only", homes, hidden: own });
  if (why !== undefined) throw refused(path, why);
  const held = places.hidden.find((each) => liesIn(each, real));
  if (held !== undefined) throw refused(path, `it holds "${held}", which stays hidden`);
  const written = [
    ...shownPlaces(places),
    ...(places.home === undefined ? [] : [places.home]),
  ].find((each) => overlap(each, real));
  if (written !== undefined)
    throw refused(path, `it is in "${written}", which the agent is shown as well, or holds it`);
  return real;
}

interface OverlayChecks {
  readonly hidden: readonly string[];
  readonly canOverlay: boolean;
}

/** What the agent writes must be in no place that anybody shows it. */
function checkOverlay(
  { path, layers, writable = [] }: Workspace,
  { hidden, canOverlay }: OverlayChecks,
): void {
  if (!canOverlay) throw refused(path, "only namespace can keep apart what an agent writes");
  if (writable.length > 0)
    throw refused(path, "nothing of it is written, so nothing is to be given back");
  if (
    layers === undefined ||
    !hidden.some((each) => liesIn(realOrGiven(layers), realOrGiven(each)))
  )
    throw refused(path, "what it writes would not be kept in a hidden place");
}

/**
 * @throws ConsentError `options_invalid` where an agent that writes there could change what runs
 * outside.
 */
function refuseOverlap(path: string, ours: readonly string[]): void {
  const overlapped = ours.find((each) => overlap(each, path));
  if (overlapped === undefined) return;
  throw refused(
    path,
    `what runs outside the sandbox is there ("${overlapped}"), and the agent could change it; install it elsewhere`,
  );
}

interface HomeJudging extends Pick<Judging, "homes"> {
  /** What no home lies in. */
  readonly own: readonly string[];
}

/**
 * A home may lie in a hidden place, which the agent does not see by it; not in one that it sees,
 * which would then be two.
 */
function checkHome(path: string, places: VisiblePlaces, { homes, own }: HomeJudging): string {
  const real = realDirectory(path);
  const why = whyNotShown(real, { access: "read-write", homes, hidden: own });
  if (why !== undefined) throw refused(path, why);
  const held = places.hidden.find((each) => liesIn(each, real));
  if (held !== undefined) throw refused(path, `it holds "${held}", which stays hidden`);
  const twice = shownPlaces(places).find((each) => overlap(each, real));
  if (twice !== undefined)
    throw refused(path, `it would be the home, and is in "${twice}" or holds it`);
  refuseOverlap(real, places.programs);
  return real;
}

function overlap(one: string, other: string): boolean {
  return liesIn(one, other) || liesIn(other, one);
}

/** What of the host the operator shows under its own name, by real paths. */
export function shownPlaces({
  workspace,
  readable,
  writable = [],
}: VisiblePlaces): readonly string[] {
  return [...readable, ...writable, ...(workspace === undefined ? [] : [workspace.path])];
}

/** Whether a path is a directory itself or lies in it. Both absolute and normalised. */
export function liesIn(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);
}

/**
 * Sockets in a directory, as far as a look at its first entries tells: with Unix sockets allowed,
 * each is a way to a program of the host.
 */
export async function socketsIn(
  directory: string,
  entriesMax = 20_000,
): Promise<readonly string[]> {
  const found: string[] = [];
  const open = [directory];
  let left = entriesMax;
  for (const each of open) {
    const entries = await opendir(each).catch(() => undefined);
    if (entries === undefined) continue;
    for await (const entry of entries) {
      left -= 1;
      if (left < 0) return found;
      if (entry.isSocket()) found.push(join(each, entry.name));
      else if (entry.isDirectory()) open.push(join(each, entry.name));
    }
  }
  return found;
}

/** The same workspace by its real path. */
function rooted(workspace: Workspace, path: string): Workspace {
  const { writable, known } = workspace;
  const rebase = (paths: readonly string[]): readonly string[] =>
    paths.map((each) => join(path, relative(workspace.path, each)));
  return {
    ...workspace,
    path,
    ...(writable !== undefined && { writable: rebase(writable) }),
    ...(known !== undefined && { known: rebase(known) }),
  };
}

interface Judging {
  readonly access: Workspace["access"];
  readonly homes: readonly string[];
  readonly hidden: readonly string[];
}

function whyNotShown(path: string, { access, homes, hidden }: Judging): string | undefined {
  const inHidden = hidden.find((each) => liesIn(path, each) || liesIn(each, path));
  if (inHidden !== undefined) return `it holds or lies in "${inHidden}", which stays hidden`;
  if (WHOLES.includes(path)) return "it is more than a workspace";
  if (homes.some((home) => liesIn(home, path))) return "it is, or holds, a whole home directory";
  const within = [...SYSTEM, ...(access !== "read-only" ? PROGRAMS : [])].find((each) =>
    liesIn(path, each),
  );
  return within === undefined ? undefined : `it is part of the system (${within})`;
}

/** Homes of people: system users call `/`, `/bin` and `/nonexistent` their home. */
function homeDirectories(): readonly string[] {
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  const people = lines.flatMap((line) => {
    const [, , uid = "", , , home = ""] = line.split(":");
    return Number(uid) === 0 || (Number(uid) >= 1000 && Number(uid) < 65_534) ? [home] : [];
  });
  return [...people, process.env["HOME"] ?? ""]
    .filter((home) => home.startsWith("/") && home !== "/")
    .map(realOrGiven);
}

/** Leads to a real path. */
type Following = (path: string) => string;

function realDirectory(path: string, follow: Following = realpathSync): string {
  if (!path.startsWith("/")) throw refused(path, "the path is not absolute");
  try {
    const real = follow(path);
    if (statSync(real).isDirectory()) return real;
  } catch (error) {
    if (error instanceof ConsentError) throw error;
    throw refused(
      path,
      error instanceof Error && "code" in error ? String(error.code) : String(error),
    );
  }
  throw refused(path, "it is not a directory");
}

/** What does not exist yet stays hidden too: by the real path of what exists of it. */
function realOrGiven(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realOrGiven(parent), path.slice(parent.length));
  }
}

function refused(path: string, why: string): ConsentError {
  return new ConsentError("options_invalid", `Cannot show "${path}" to an agent: ${why}`);
}
