/** Layout: the agent's directory and a home full of canaries. */
import { chmod, chown, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Directories of a ground. */
export interface Places {
  readonly workspace: string;
  /** The ACP home. */
  readonly hidden: string;
  readonly sockets: string;
  /** A file of shared memory. */
  readonly shared: string;
}

interface Layout {
  readonly secret: string;
  /** Built programs, which the agent gets a copy of. */
  readonly programs: string;
  /** Who all but the workspace belongs to; whoever this process is unless given. */
  readonly owner: number | undefined;
}

/** Files of the home; those of attempts that change something have one each. */
const CANARIES = [
  "policy.yml",
  "audit.jsonl",
  "grants.json",
  "config.yml",
  "vault.json",
  "proofs/one",
  "../.profile",
] as const;

/** A file's text, or undefined where there is none. */
export async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(() => undefined);
}

/** Lays the files out. */
export async function layOut(
  { workspace, hidden, sockets, shared }: Places,
  { secret, programs, owner }: Layout,
): Promise<void> {
  await mkdir(workspace, { recursive: true });
  await chmod(workspace, 0o777);
  await cp(programs, join(workspace, "programs"), { recursive: true });
  const directories = [dirname(hidden), hidden, join(hidden, "proofs")];
  for (const directory of directories) await mkdir(directory, { recursive: true, mode: 0o700 });
  await mkdir(sockets);
  const files: readonly (readonly [string, string])[] = [
    ...CANARIES.map((name) => [join(hidden, name), `as it was: ${name}\n`] as const),
    [join(hidden, "keys.json"), secret],
    // Its name is the secret: for those who may only list.
    [join(hidden, secret), ""],
    [shared, secret],
  ];
  for (const [path, text] of files) await writeFile(path, text, { mode: 0o600 });
  if (owner === undefined) return;
  for (const path of [sockets, ...directories, ...files.map(([file]) => file)])
    await chown(path, owner, owner);
}
