/**
 * Landlock rules: which files an agent has without a file system of its own, as options of
 * native/confine.c. Rules only add: nothing below a directory can be taken out again, so what must
 * stay hidden may not lie in one that is shown.
 */
import { realpathSync } from "node:fs";
import { statOptional } from "./stat-optional.js";
import { systemPaths } from "./system-paths.js";
import { liesIn, type VisiblePlaces } from "./workspace.js";

/**
 * Public files of /etc that programs fail without, and what the kernel says of itself and of this
 * process.
 */
const PUBLIC = [
  "ld.so.cache ld.so.conf ld.so.conf.d ld-musl-x86_64.path ld-musl-aarch64.path alternatives localtime timezone os-release debian_version",
  "ssl/certs ssl/cert.pem ssl/openssl.cnf pki/tls/certs pki/tls/cert.pem pki/tls/openssl.cnf pki/ca-trust/extracted ca-certificates crypto-policies",
  "passwd group hosts hostname nsswitch.conf resolv.conf host.conf gai.conf protocols services",
  "mime.types magic terminfo inputrc bash.bashrc profile shells",
].flatMap((names) => names.split(" ").map((name) => `/etc/${name}`));
const KERNEL = ["/proc", "/sys/devices/system/cpu", "/sys/fs/cgroup"];
const DEVICES = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/** What rules are made from. */
export interface LandlockRuleParts {
  readonly places: VisiblePlaces;
  /** Files of the session that the agent reads. */
  readonly readable: readonly string[];
  /** Directories of the session that are the agent's. */
  readonly own: readonly string[];
  /** The terminal that the agent shares with the manager, where it does. */
  readonly terminals: readonly string[];
  /** What native/confine.c is told instead of a path that is open. */
  readonly sourceOf?: (path: string) => string;
}

/** The rules; what does not exist on this host is left out. */
export function makeLandlockRules({
  places,
  readable,
  own,
  terminals,
  sourceOf = String,
}: LandlockRuleParts): readonly string[] {
  const { workspace } = places;
  const rules: Readonly<Record<string, readonly string[]>> = {
    "--read": [
      ...systemPaths(),
      ...PUBLIC,
      ...KERNEL,
      ...places.readable,
      ...readable,
      ...(places.packages === undefined ? [] : [places.packages]),
      ...(workspace?.access === "read-only" ? [workspace.path] : []),
    ],
    "--write": [
      ...own,
      ...(places.writable ?? []),
      ...(workspace?.access === "read-write" ? [workspace.path] : []),
    ],
    "--device": [...DEVICES, ...terminals],
  };
  return Object.entries(rules).flatMap(([option, paths]) =>
    paths.filter(exists).flatMap((path) => [option, sourceOf(path)]),
  );
}

/** A hidden place that the rules would show with the system around it, and what shows it. */
export function shownHidden({
  hidden,
}: VisiblePlaces): readonly [path: string, by: string] | undefined {
  const shown = [...systemPaths(), ...PUBLIC, ...KERNEL]
    .filter(exists)
    .map((path) => realpathSync(path));
  for (const path of hidden.filter(exists)) {
    const by = shown.find((each) => liesIn(path, each));
    if (by !== undefined) return [path, by];
  }
  return undefined;
}

function exists(path: string): boolean {
  return statOptional(path) !== undefined;
}
