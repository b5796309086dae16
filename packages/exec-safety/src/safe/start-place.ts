/**
 * Start place: where a command line starts, as far as its caller knows.
 */
import { resolveInside } from "./paths.js";
import type { RunPlace } from "../config/run-place.js";
import type { SafetyOptions } from "../safety.js";

/** Folders that no project has for its root, with everything below them. */
const SYSTEM =
  /^(?:etc|usr(?!\/(?:local\/)?src\/)|s?bin|lib\w*|boot|dev|proc|sys|var(?!\/(?:www|folders|tmp)\/))(?:\/|$)/;
/** Folders that hold the projects of many, and homes of people, which hold far more than one. */
const SHARED =
  /^(?:root|home|Users|System|Library|Volumes|private|mnt|media|opt|srv|tmp|(?:home|Users)\/[^/]+)?$/;

/** What of a place does not change on the way. */
type Host = Pick<
  RunPlace,
  "trustedWorkspace" | "isGuarded" | "noInput" | "atTerminal" | "loopbackPorts"
>;

/** Where a command line starts. A directory that is not absolute is not known. */
export function startPlace({
  cwd,
  projectRoot,
  trustedWorkspace = true,
  loopbackPorts,
  ...options
}: SafetyOptions): RunPlace {
  const { isGuarded, noInput, atTerminal } = options;
  const host: Host = {
    trustedWorkspace,
    ...(isGuarded === true && { isGuarded }),
    ...(noInput === true && { noInput }),
    ...(atTerminal === true && { atTerminal }),
    ...(loopbackPorts !== undefined && { loopbackPorts }),
  };
  if (projectRoot === undefined) return placeOf(cwd, host);
  if (!projectRoot.startsWith("/")) return { inside: undefined, projectRoot: undefined, ...host };
  const place: RunPlace = { inside: "", projectRoot, ...host };
  return cwd === undefined
    ? place
    : { ...place, inside: cwd.startsWith("/") ? resolveInside(cwd, place) : undefined };
}

/**
 * Without a root, the directory itself is the project; it is often the agent who chooses it, and
 * `/` would make everything inside.
 */
function placeOf(cwd: string | undefined, host: Host): RunPlace {
  if (cwd === undefined) return { inside: "", projectRoot: undefined, ...host };
  const path = cwd.startsWith("/")
    ? resolveInside(cwd, { inside: "", projectRoot: "/", ...host })
    : undefined;
  return path === undefined || SYSTEM.test(path) || SHARED.test(path)
    ? { inside: undefined, projectRoot: undefined, ...host }
    : { inside: "", projectRoot: cwd, ...host };
}
