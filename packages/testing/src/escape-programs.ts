/**
 * Programs of the escape kit: built from escape/programs with the host's `cc` for one run, and the
 * world in which they are run. Beside this file's own directory, in the sources and in the package
 * alike, lies `escape/`.
 */
import { execFile } from "node:child_process";
import { cp, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const KIT = fileURLToPath(new URL("../escape", import.meta.url));

const FREESTANDING = [
  "-static",
  "-nostdlib",
  "-ffreestanding",
  "-fno-pic",
  "-no-pie",
  "-fno-stack-protector",
];

/**
 * Program → its source and how it is built. Those marked optional need a compiler that this host
 * may lack; their attempts are then skipped.
 */
const BUILDS: readonly {
  readonly program: string;
  readonly source: string;
  readonly flags: readonly string[];
  readonly isOptional?: true;
}[] = [
  ...["unix", "uring", "proc", "files", "process", "victim", "listen", "leak"].map((program) => ({
    program,
    source: program,
    flags: [],
  })),
  { program: "net", source: "net", flags: ["-pthread"] },
  { program: "net-static", source: "net", flags: ["-DSTATIC_BUILD", "-static", "-pthread"] },
  { program: "int80", source: "i386", flags: FREESTANDING, isOptional: true },
  { program: "i386", source: "i386", flags: ["-m32", ...FREESTANDING], isOptional: true },
];

/**
 * Builds the programs of the escape kit into an empty directory, for {@link escapeWorld}. Everyone
 * must be able to read the directory.
 *
 * @throws Error where `cc` is missing, or fails for a program that every attempt needs.
 */
export async function buildEscapePrograms(escapeDirectory: string): Promise<void> {
  const run = promisify(execFile);
  const directory = join(escapeDirectory, "programs");
  for (const made of [directory, join(escapeDirectory, "world")]) await mkdir(made);
  const sources = join(KIT, "programs");
  const scripts = (await readdir(sources)).filter((name) => !/\.[ch]$/.test(name));
  await Promise.all(scripts.map((name) => cp(join(sources, name), join(directory, name))));
  const builds = BUILDS.map(async ({ program, source, flags, isOptional }) => {
    const args = [
      "-O1",
      "-o",
      join(directory, program),
      ...flags,
      join(sources, `${source}.c`),
      ...(flags.includes("-nostdlib") ? [] : ["-lrt"]),
    ];
    await run("cc", args).catch((error: unknown) => {
      if (isOptional !== true) throw error;
    });
  });
  await Promise.all([...builds, cp(join(KIT, "driver.mjs"), join(directory, "driver.mjs"))]);
}

/** Options of {@link escapeWorld}. */
export interface EscapeWorldOptions {
  /** The directory that {@link buildEscapePrograms} built into. */
  readonly directory: string;
  /**
   * Uid that the command runs as; 0 is the world's root. 61000 and 61001 have user names there, and
   * 61000 has subordinate uids.
   */
  readonly uid: number;
}

/**
 * The command line that runs a command in a world of its own. Its network, processes and mounts end
 * with the command, and nothing of it touches the machine. Needs root or unprivileged user
 * namespaces, util-linux and iproute2.
 */
export function escapeWorld(
  command: readonly string[],
  { directory, uid }: EscapeWorldOptions,
): readonly [string, ...string[]] {
  const namespaces = [
    "--net",
    "--mount",
    "--pid",
    "--ipc",
    "--fork",
    "--kill-child",
    "--mount-proc",
  ];
  const asRoot = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
  return [
    "unshare",
    ...asRoot,
    ...namespaces,
    "sh",
    join(KIT, "world.sh"),
    String(uid),
    directory,
    ...command,
  ];
}
