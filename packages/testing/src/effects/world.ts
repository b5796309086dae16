/**
 * World: a project full of traps, a home, and their secrets, laid out once and copied for every
 * run. Nothing of it is run while it is laid out.
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { HOSTILE_REPOSITORY, hostileRepository } from "./git-traps.js";
import { ORDINARY_FILES, makeArchives } from "./ordinary-files.js";
import { PLANTED_SECRETS } from "./secrets.js";
import { TRAPS, type Trap } from "./traps.js";

const run = promisify(execFile);

/** The files that commands run among. They are copied for each run. */
export interface EffectWorld extends AsyncDisposable {
  /** Absolute path of these files on this machine. */
  readonly folder: string;
}

const GIT = [
  "-c",
  "user.name=Someone",
  "-c",
  "user.email=someone@example.com",
  "-c",
  "init.defaultBranch=main",
  "-c",
  "core.hooksPath=/dev/null",
];
const GIT_ENVIRONMENT = {
  PATH: process.env["PATH"] ?? "",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
  GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z",
};
const SIGNATURE =
  "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQEzBAABCAAdFiEE\n -----END PGP SIGNATURE-----\n";

async function write(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const isProgram = typeof content === "string" && content.startsWith("#!");
  await writeFile(path, content, { mode: isProgram ? 0o755 : 0o644 });
}

/**
 * A place as a command sees it (`/world/…`, `a.txt` of the project), below a folder of this
 * machine.
 */
export function placeIn(folder: string, path: string): string {
  return path.startsWith("/world/")
    ? join(folder, path.slice("/world/".length))
    : join(folder, "project", path);
}

/** The secret of a file whose other lines are none. */
function wordsIn(path: string): string {
  return PLANTED_SECRETS.find((secret) => secret.path === `/world/project/${path}`)?.words ?? "";
}

async function plantTrap(folder: string, { path, text, mark }: Trap): Promise<void> {
  await write(placeIn(folder, path), text.replaceAll("TOKEN", wordsIn(path)));
  if (text.includes(`/world/traps/${mark}`))
    await write(join(folder, "traps", mark), `#!/bin/sh\n: >/ran/${mark}\ncat 2>/dev/null\n`);
}

/**
 * Two commits and something that is not committed; the last commit is signed by a key that nobody
 * has.
 */
async function commit(folder: string): Promise<void> {
  const git = async (...args: readonly string[]): Promise<string> =>
    (await run("git", [...GIT, ...args], { cwd: folder, env: GIT_ENVIRONMENT })).stdout.trim();
  await git("init", "-q", "--template=");
  await git("add", "a.txt");
  await git("commit", "-qm", "first");
  await git("add", ".");
  await git("commit", "-qm", "second");
  await git("tag", "v1.0.0");
  await git("branch", "other");
  const object = `${await git("cat-file", "commit", "HEAD")}\n`;
  const end = object.indexOf("\n", object.indexOf("committer")) + 1;
  await writeFile(
    join(folder, ".git/signed"),
    `${object.slice(0, end)}${SIGNATURE}${object.slice(end)}`,
  );
  await git("update-ref", "HEAD", await git("hash-object", "-t", "commit", "-w", ".git/signed"));
  await rm(join(folder, ".git/signed"));
  await git("repack", "-adq");
  await git("prune-packed", "-q");
  await git(
    "config",
    "remote.origin.url",
    `https://me:${wordsIn(".git/config")}@git.example/project.git`,
  );
  await git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*");
  await writeFile(
    join(folder, "a.txt"),
    `${await readFile(join(folder, "a.txt"), "utf8")}changed\n`,
  );
}

/**
 * A repository of its own as plain files: what `.git` holds, in a folder that is called otherwise.
 */
async function plantRepository(folder: string): Promise<void> {
  const repository = join(folder, "project", HOSTILE_REPOSITORY);
  for (const name of ["a.txt", "b.txt"]) await write(join(repository, name), `${name}\n`);
  await commit(repository);
  for (const part of await readdir(join(repository, ".git")))
    await rename(join(repository, ".git", part), join(repository, part));
  await rmdir(join(repository, ".git"));
  for (const trap of hostileRepository(HOSTILE_REPOSITORY)) await plantTrap(folder, trap);
}

/** Creates the files of a world. Needs git, and `tar`, `gzip` and others for some of the files. */
export async function makeEffectWorld(): Promise<EffectWorld> {
  const folder = await mkdtemp(join(tmpdir(), "acp-world-"));
  const project = join(folder, "project");
  for (const [path, text] of Object.entries(ORDINARY_FILES)) await write(join(project, path), text);
  await makeArchives(project);
  await write(
    join(project, ".gitignore"),
    PLANTED_SECRETS.map(({ path }) => `${path.replace("/world/project", "")}\n`)
      .join("")
      .concat(`/${HOSTILE_REPOSITORY}\n`),
  );
  for (const trap of TRAPS) await plantTrap(folder, trap);
  for (const { path, text } of PLANTED_SECRETS.filter((secret) => secret.text !== ""))
    await write(placeIn(folder, path), text);
  await commit(project);
  await plantRepository(folder);
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
