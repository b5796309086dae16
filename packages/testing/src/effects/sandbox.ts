/**
 * Sandbox: the command line that runs a command where it can harm nobody. Files are read-only but
 * for the world and `/tmp`, which are copies; there is no network but an empty loopback, no process
 * but its own, and no right to anything. strace stands outside and watches.
 */
import { readdir, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { TRACED } from "./trace.js";

/** The folders of one run on this machine. */
export interface RunFolders {
  readonly world: string;
  readonly tmp: string;
  readonly ran: string;
  readonly traces: string;
  /** A file that takes the place of `/etc/resolv.conf`. */
  readonly resolver: string;
  /** One that takes the place of `/etc/passwd`. */
  readonly users: string;
}

/** The user that a command runs as. */
export const RUN_UID = 1000;

/** What is not shown as it is. */
const OWN: ReadonlySet<string> = new Set(["proc", "dev", "tmp", "run", "world", "ran"]);

async function shown(): Promise<readonly string[]> {
  const entries = (await readdir("/", { withFileTypes: true })).filter(
    ({ name }) => !OWN.has(name),
  );
  const args = entries.map(async (entry) =>
    entry.isSymbolicLink()
      ? ["--symlink", await readlink(join("/", entry.name)), `/${entry.name}`]
      : ["--ro-bind", `/${entry.name}`, `/${entry.name}`],
  );
  return (await Promise.all(args)).flat();
}

/**
 * Where the file is a link it leads below `/run`, which is empty there: programs then ask loopback
 * by themselves.
 */
async function resolver(file: string): Promise<readonly string[]> {
  const place = await readlink("/etc/resolv.conf").catch(() => undefined);
  return place === undefined &&
    (await stat("/etc/resolv.conf").catch(() => undefined)) !== undefined
    ? ["--ro-bind", file, "/etc/resolv.conf"]
    : [];
}

/** strace's options: every process in a file of its own, paths beside descriptors. */
function tracing(traces: string): readonly string[] {
  const what = ["-e", `trace=${TRACED}`, "-e", "signal=none"];
  return ["-ff", "-y", "-s", "400", "--seccomp-bpf", "-qq", ...what, "-o", join(traces, "trace")];
}

/** bubblewrap's options for a process that is alone, with no right and nothing of ours. */
function alone(cwd: string): readonly string[] {
  const user = ["--uid", `${RUN_UID}`, "--gid", `${RUN_UID}`];
  const life = ["--new-session", "--die-with-parent"];
  return ["--unshare-all", ...user, ...life, "--chdir", cwd, "--clearenv"];
}

/** The command line, for `spawn`. */
export async function sandboxArgs(
  argv: readonly string[],
  { world, tmp, ran, traces, resolver: resolverFile, users }: RunFolders,
  {
    cwd,
    variables,
  }: { readonly cwd: string; readonly variables: Readonly<Record<string, string>> },
): Promise<readonly [string, ...string[]]> {
  const etc = [...(await resolver(resolverFile)), "--ro-bind", users, "/etc/passwd"];
  const places = [...(await shown()), ...etc, "--dev", "/dev", "--proc", "/proc", "--dir", "/run"];
  const own = Object.entries({ "/world": world, "/tmp": tmp, "/ran": ran }).flatMap(
    ([inside, outside]) => ["--bind", outside, inside],
  );
  const environment = Object.entries(variables).flatMap(([name, value]) => [
    "--setenv",
    name,
    value,
  ]);
  const confined = [...places, ...own, "--remount-ro", "/", ...alone(cwd), ...environment];
  return ["strace", ...tracing(traces), "bwrap", ...confined, "--", ...argv];
}
