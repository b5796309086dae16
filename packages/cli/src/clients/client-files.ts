/**
 * Client files: where the clients of docs/how-to/proxy-clients.md and docs/how-to/exec-hooks.md keep
 * their settings, and which lines in them name something.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Io } from "../command.js";
import { placesOfProject, placesOfUser } from "./known-clients.js";

/** Of hooks, below the user's home directory and in the project that the command is run in. */
const HOOKS: readonly string[] = [
  ".claude/settings.json",
  ".claude/settings.local.json",
  ".cursor/hooks.json",
  ".codex/hooks.json",
];
const FILE_BYTES_MAX: number = 64 * 1024 * 1024;

/** A file with its text. */
export interface ClientFile {
  readonly path: string;
  readonly text: string;
}

/** A file that is there and cannot be read. */
export interface UnreadFile {
  readonly path: string;
  readonly why: string;
}

/** What there is of them. */
export interface ClientFiles {
  readonly files: readonly ClientFile[];
  /** What may name acp, and nobody could see. */
  readonly unread: readonly UnreadFile[];
}

/** Reads all that are there: of the user, and of the project that the command is run in. */
export async function readClientFiles({
  userHome,
  env,
  cwd,
}: Pick<Io, "userHome" | "env" | "cwd">): Promise<ClientFiles> {
  const { platform } = process;
  const places = [...placesOfUser({ platform, userHome, env }), ...placesOfProject(cwd, platform)];
  const paths = new Set([
    ...places.map(({ path }) => path),
    ...[userHome, cwd].flatMap((folder) => HOOKS.map((name) => join(folder, name))),
  ]);
  const files: ClientFile[] = [];
  const unread: UnreadFile[] = [];
  for (const path of paths) {
    try {
      const text = await readFile(path, "utf8");
      if (text.length > FILE_BYTES_MAX) throw new Error("it is too large");
      files.push({ path, text });
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "ENOENT" || code === "ENOTDIR") continue;
      unread.push({ path, why: error instanceof Error ? error.message : String(error) });
    }
  }
  return { files, unread };
}

/** A line of a file, counted from 1. Plain JSON data. */
export interface NamedAt {
  readonly file: string;
  readonly line: number;
}

/** Lines of files that hold one of some words, not as part of a longer name. */
export function linesWith(
  files: readonly ClientFile[],
  words: readonly string[],
): readonly NamedAt[] {
  const escaped = words.map((word) => word.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&"));
  const pattern = new RegExp(`(?<![\\w.-])(?:${escaped.join("|")})(?![\\w.-])`, "u");
  return files.flatMap(({ path, text }) =>
    text
      .split("\n")
      .flatMap((line, index) => (pattern.test(line) ? [{ file: path, line: index + 1 }] : [])),
  );
}
