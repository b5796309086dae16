/**
 * Tree program: the program of a package in a tree, as npx would choose it, and how it is started.
 * It lies in the tree by its real path.
 */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
} from "node:fs";
import { basename, join } from "node:path";
import { ConsentError } from "@acp/core";
import type { NpxCommand } from "./npx-command.js";

const MANIFEST_BYTES_MAX = 1_048_576;
const HEAD_BYTES = 256;
const FOR_NODE = /^#![ \t]*(?:\S*\/env[ \t]+)?(?:\S*\/)?node(?:js)?[ \t]*\r?\n/u;
const ELF = "\u007fELF";

/**
 * The command line that starts it.
 *
 * @param tree - The directory that holds `node_modules`.
 * @throws ConsentError `config_invalid` where there is no such program, or it is not in the tree.
 */
export function treeProgram(
  tree: string,
  { packages, program, args }: NpxCommand,
): readonly string[] {
  const modules = realpathSync(join(tree, "node_modules"));
  const found = packages.map(({ name }) => ({ name, programs: programsOf(join(modules, name)) }));
  const path =
    program === undefined
      ? chooseOnly(found[0])
      : found.map(({ programs }) => programs.get(program)).find((each) => each !== undefined);
  const names = packages.map(({ name }) => `"${name}"`).join(", ");
  if (path === undefined)
    throw refused(
      program === undefined
        ? `${names} has no program that npx would start`
        : `${names} has no program "${program}"`,
    );
  const real = realPath(path);
  if (!real.startsWith(`${modules}/`))
    throw refused(`the program of ${names} lies outside its packages`);
  const head = headOf(real);
  const isDirect = head.startsWith(ELF) || (head.startsWith("#!") && !FOR_NODE.test(head));
  return [...(isDirect ? [] : [realpathSync(process.execPath)]), real, ...args];
}

interface Programs {
  readonly name: string;
  readonly programs: ReadonlyMap<string, string>;
}

/** As npx: the only program, whatever its names; else the one that is called as the package is. */
function chooseOnly(found: Programs | undefined): string | undefined {
  if (found === undefined) return undefined;
  const different = [...new Set(found.programs.values())];
  return different.length === 1 ? different[0] : found.programs.get(basename(found.name));
}

function programsOf(directory: string): ReadonlyMap<string, string> {
  const { name, bin } = readManifest(join(directory, "package.json"));
  if (typeof bin === "string" && typeof name === "string")
    return new Map([[basename(name), join(directory, bin)]]);
  if (typeof bin !== "object" || bin === null) return new Map();
  return new Map(
    Object.entries(bin).flatMap(([key, path]) =>
      typeof path === "string" ? [[basename(key), join(directory, path)]] : [],
    ),
  );
}

interface Manifest {
  readonly name?: unknown;
  readonly bin?: unknown;
}

function readManifest(file: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(withFile(file, (fd) => readFileSync(fd, "utf8"), MANIFEST_BYTES_MAX));
  } catch (cause) {
    throw refused(
      `"${file}" cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
  return typeof value === "object" && value !== null ? value : {};
}

function headOf(file: string): string {
  return withFile(file, (fd) => {
    const bytes = Buffer.alloc(HEAD_BYTES);
    return bytes.toString("latin1", 0, readSync(fd, bytes, 0, HEAD_BYTES, 0));
  });
}

function withFile<T>(
  file: string,
  use: (fd: number) => T,
  bytesMax: number = Number.POSITIVE_INFINITY,
): T {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = fstatSync(fd);
    if (!found.isFile() || found.size > bytesMax)
      throw refused(`"${file}" is not a file of at most ${bytesMax} bytes`);
    return use(fd);
  } finally {
    closeSync(fd);
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    throw refused(`the program "${path}" is not there`);
  }
}

function refused(why: string): ConsentError {
  return new ConsentError("config_invalid", `Cannot find the program of a server: ${why}`);
}
