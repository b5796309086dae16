/**
 * Place: what a text is where it is read as a path: one of ACP's own, one where credentials are
 * usually kept, a directory around either, or none of these. Pure: links are resolved by whoever
 * makes the judge.
 */
import { foldedSegments, isRemote, saysItsStart } from "./readings.js";
import { matchesGlob } from "@acp/exec-safety/secret-names";
import { canMatchSecret, isSecretName } from "@acp/exec-safety/secret-names";

/** Where a path leads after links are followed. */
export interface ResolvedPath {
  /** The path with links followed, as far as they exist; absolute. */
  readonly path: string;
  /** False where nothing is at the path yet. */
  readonly exists: boolean;
}

/** What `createPathGuard` needs to know of this machine. Paths are absolute. */
export interface PathGuardOptions {
  /** The user's home directory, which `~` stands for. */
  readonly userHome: string;
  /** ACP's home directory. No tool may name it, or anything in it. */
  readonly acpHome: string;
  /**
   * Files and directories outside of it that are closed too, such as those that its configuration
   * keeps elsewhere.
   */
  readonly closed?: readonly string[];
  /** The directories where a relative path in a server's call may start. */
  readonly startsOf: (server: string) => readonly string[];
  /** Follows links. Must not throw: a path that cannot be looked at is returned as it is. */
  readonly resolve: (path: string) => ResolvedPath;
}

/** What a path is: ACP's own, where credentials are kept, or a directory around either. */
export type PlaceKind = "closed" | "credentials" | "around";
type Segments = readonly string[];

const GLOB = /[*?[\]{}]/;
/** Below a home, what holds credentials of several programs. */
const AROUND = [
  ".config",
  ".local",
  ".local/share",
  "library",
  "library/application support",
  "appdata",
  "appdata/local",
  "snap",
];

const startsWith = (path: Segments, start: Segments): boolean =>
  start.length <= path.length && start.every((segment, index) => takes(path[index] ?? "", segment));

/**
 * A segment that is a glob takes what it matches; one of nothing but stars is too broad to be aimed
 * at anything.
 */
function takes(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  return GLOB.test(pattern) && !/^\*+$/.test(pattern) && matchesGlob(pattern, name);
}

/** The part of a path before its first glob. */
function fixedPart(path: Segments): Segments {
  const at = path.findIndex((segment) => GLOB.test(segment));
  return at === -1 ? path : path.slice(0, at);
}

/** The places of one machine, folded. */
interface Places {
  readonly closed: readonly Segments[];
  /** What nobody should read, copy or delete all of. */
  readonly inside: readonly Segments[];
}

function placesOf({ userHome, acpHome, closed = [], resolve }: PathGuardOptions): Places {
  const both = (paths: readonly string[]): readonly Segments[] =>
    [...paths, ...paths.map((path) => resolve(path).path)].map(foldedSegments);
  const own = both([acpHome]);
  return {
    closed: [...own, ...both(closed)],
    inside: [...own, ...both([userHome, ...AROUND.map((folder) => `${userHome}/${folder}`)])],
  };
}

const isCredential = (path: Segments): boolean =>
  isSecretName(path.join("/")) ||
  isProcess(path) ||
  path.some((segment) => GLOB.test(segment) && canMatchSecret(segment));

const ORDER: readonly PlaceKind[] = ["closed", "credentials", "around"];
/** The strictest of several. */
export const strictest = (kinds: readonly (PlaceKind | undefined)[]): PlaceKind | undefined =>
  ORDER.find((kind) => kinds.includes(kind));

/** Judges one reading of a text (readings.ts) as a path that starts in one of these directories. */
export type PlaceJudge = (reading: string, starts: readonly string[]) => PlaceKind | undefined;

/** Makes the judge of a machine's paths. */
export function createPlaceJudge(options: PathGuardOptions): PlaceJudge {
  const { userHome, resolve } = options;
  const { closed, inside } = placesOf(options);
  const isClosed = (path: Segments): boolean => closed.some((place) => startsWith(path, place));
  const isAround = (path: Segments): boolean =>
    inside.some((place) => startsWith(place, fixedPart(path)));
  const kindOf = (path: Segments): PlaceKind | undefined =>
    isClosed(path)
      ? "closed"
      : isCredential(path)
        ? "credentials"
        : isAround(path)
          ? "around"
          : undefined;

  /**
   * Where a path leads; a directory that is a link may be left upwards as the kernel does it, or as
   * a text.
   */
  const throughLinks = (raw: string, isProse: boolean): PlaceKind | undefined =>
    strictest(
      [...new Set([raw, `/${lexical(raw)}`])].map((path) => {
        const real = resolve(path);
        const [from, to] = [foldedSegments(path), foldedSegments(real.path)];
        if (isProse && real.exists) return strictest([kindOf(from), kindOf(to)]);
        return from.join("/") === to.join("/") ? undefined : kindOf(to);
      }),
    );

  /** A text as one path, from each place where it may start. */
  const judgeReading = (reading: string, starts: readonly string[]): PlaceKind | undefined => {
    const whole = reading.replace(/^~(?=\/|$)/, () => userHome);
    const raws = [
      ...new Set(
        [...starts, userHome].map((start) => (whole.startsWith("/") ? whole : `${start}/${whole}`)),
      ),
    ];
    const isProse = readsAsProse(reading);
    const kinds = raws.map((raw) => throughLinks(raw, isProse));
    if (isProse) return strictest(kinds);
    const paths = raws.map(foldedSegments);
    // The user's home is where a text may start, and not where "." is.
    const near = isPlace(reading)
      ? whole.startsWith("/") || starts.includes(userHome)
        ? paths
        : paths.slice(0, -1)
      : [];
    return strictest([
      ...kinds,
      paths.some(isClosed) ? "closed" : undefined,
      // By its names alone: `.ssh` is somebody's, wherever it stands.
      isNamed(reading) && isCredential(foldedSegments(reading.replace(/^~[^/]*/, "")))
        ? "credentials"
        : undefined,
      near.some(isAround) ? "around" : undefined,
    ]);
  };

  return judgeReading;
}

/** A path without `.` and `..`, as a text is normalised. */
function lexical(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return segments.join("/");
}

const OF_PROCESS = ["environ", "mem", "fd", "map_files"];

/**
 * What the kernel tells of a process or one of its threads: its environment, its memory, its open
 * files.
 */
const isProcess = ([root, , what, , ofThread]: Segments): boolean => {
  const told = what === "task" ? ofThread : what;
  return root === "proc" && told !== undefined && OF_PROCESS.some((name) => takes(told, name));
};

/** A word without a slash that is the name of something secret and of nothing else. */
const isTelling = (word: string): boolean =>
  /^[._]|^id_(?:rsa|ed25519|ecdsa|dsa)\b|\.(?:pem|key|kdbx|p12)$/i.test(word);

/**
 * Whether the names in a text are looked at: it has a slash, or is a word that says enough. A URL
 * of another host is none of ours.
 */
const isNamed = (reading: string): boolean =>
  isTelling(reading) || (reading.includes("/") && (!isRemote(reading) || reading.includes("/../")));

/** Whether a text names a directory by where it is. */
const isPlace = (reading: string): boolean =>
  (reading.includes("/") && !isRemote(reading)) || /^(?:\.{1,2}|~)$/.test(reading);

/**
 * Words before a path, or behind it: the text is about it. Where a file of that very name exists,
 * it is a path all the same.
 */
function readsAsProse(text: string): boolean {
  if (!/\s/.test(text)) return false;
  const [first = "", ...rest] = text.split("/");
  return (
    /[\r\n]/.test(text) ||
    (!saysItsStart(text) && /\s/.test(first)) ||
    rest.some((segment) => /\s~?$/.test(segment)) ||
    /\s\S+\s\S/.test(rest.at(-1) ?? "")
  );
}
