/**
 * Places: what of the host an agent is shown, held open by descriptor from the moment it was
 * judged. A name can lead elsewhere a moment later; a descriptor cannot. Opened one component after
 * the other, never through a link.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  realpathSync,
} from "node:fs";
import { ConsentError } from "@acp/core";
import type { AgentUser, Workspace } from "./parts.js";

/** What the kernel calls a file, whatever its name: both as decimal digits. */
export interface FileId {
  readonly device: string;
  readonly inode: string;
}

/** A place that is open. */
export interface OpenPlace extends FileId {
  /** Its real path. */
  readonly path: string;
  readonly fd: number;
}

/** Places that are open. */
export interface OpenPlaces extends Disposable {
  readonly all: readonly OpenPlace[];
}

/**
 * Opens nothing, and needs no permission on the file itself. Numbers of Linux that Node has no name
 * for.
 */
export const O_PATH = 0o10000000;
const OWNERS = 0o700;

/** What is opened. */
export interface PlacesToOpen {
  /**
   * Where the names of `shown` and `guarded` begin: `/`, unless they are those of another mount
   * namespace.
   */
  readonly root?: string;
  /** Real paths of what the operator shows. */
  readonly shown: readonly string[];
  /** Paths of ours, which may lie in hidden places. */
  readonly own: readonly string[];
  /** Places that none of `shown` may be, hold or lie in. */
  readonly hidden: readonly string[];
  /** Real paths in what is shown; one that is gone, or has become a link, is left out. */
  readonly guarded?: readonly string[];
}

/**
 * Opens them.
 *
 * @throws ConsentError `options_invalid` where a place is not there, has become a link, or holds or
 *   lies in a hidden one.
 */
export function openPlaces({
  root = "/",
  shown,
  own,
  hidden,
  guarded = [],
}: PlacesToOpen): OpenPlaces {
  const all: OpenPlace[] = [];
  const close = (): void => {
    for (const { fd } of all.splice(0)) closeSync(fd);
  };
  try {
    const secrets = hidden.flatMap((path) => chainOf(path));
    for (const path of new Set([...shown, ...own])) {
      // A temporary directory or a Node may be reached through links of the operator's, which no
      // agent can write.
      const { fd, chain } = shown.includes(path)
        ? openPath(path, root)
        : openPath(realpathSync(path));
      const id = fileIdOf(fd);
      all.push({ path, fd, ...id });
      if (!shown.includes(path)) continue;
      const secret = secrets.find(
        ({ path: hiddenPath, chain: above }) =>
          above.some((each) => isSame(each, id)) || chain.some((each) => isSame(each, hiddenPath)),
      );
      if (secret !== undefined)
        throw refused(path, `it holds or lies in "${secret.name}", which stays hidden`);
    }
    for (const path of guarded) {
      const fd = tryOpen(path, root);
      if (fd !== undefined) all.push({ path, fd, ...fileIdOf(fd) });
    }
    return { all, [Symbol.dispose]: close };
  } catch (error) {
    close();
    throw error;
  }
}

function tryOpen(path: string, root: string): number | undefined {
  try {
    return openPath(path, root).fd;
  } catch {
    return undefined;
  }
}

/** The id of what a path leads to, its last step no link. */
export function fileIdAt(path: string): FileId {
  const { dev, ino } = lstatSync(path, { bigint: true });
  return { device: String(dev), inode: String(ino) };
}

/** Whether both are one file. */
export function isSame(one: FileId, other: FileId): boolean {
  return one.device === other.device && one.inode === other.inode;
}

/**
 * An agent that closed its own workspace to itself would not start again: its owner's rights are
 * given back.
 */
export function reopenWorkspace({ path, access }: Workspace, user: AgentUser): void {
  if (access === "read-write") reopenOpened(openPath(path).fd, user);
}

/**
 * Gives the owner's rights on a folder back, if `user` owns it and has taken them away from itself.
 * Does nothing where something else has taken the folder's name.
 */
export function reopenFolder(path: string, user: { readonly uid: number }): void {
  let fd: number;
  try {
    ({ fd } = openPath(path));
  } catch {
    return;
  }
  reopenOpened(fd, user);
}

function reopenOpened(fd: number, { uid }: { readonly uid: number }): void {
  try {
    const found = fstatSync(fd);
    if (found.uid === uid && (found.mode & OWNERS) !== OWNERS)
      chmodSync(`/proc/self/fd/${fd}`, (found.mode & 0o7777) | OWNERS);
  } finally {
    closeSync(fd);
  }
}

/** A path's descriptor, and the ids of all directories on the way to it, itself included. */
export function openPath(
  path: string,
  root = "/",
): { readonly fd: number; readonly chain: readonly FileId[] } {
  let fd = openSync(root, O_PATH);
  const chain = [fileIdOf(fd)];
  try {
    for (const component of path.split("/").filter((each) => each !== "")) {
      const next = openSync(`/proc/self/fd/${fd}/${component}`, O_PATH | constants.O_NOFOLLOW);
      closeSync(fd);
      fd = next;
      chain.push(fileIdOf(fd));
      if (fstatSync(fd).isSymbolicLink())
        throw refused(path, "it was replaced with a link while it was being inspected");
    }
    return { fd, chain };
  } catch (error) {
    closeSync(fd);
    if (error instanceof ConsentError) throw error;
    throw refused(
      path,
      error instanceof Error && "code" in error ? String(error.code) : String(error),
    );
  }
}

interface Secret {
  readonly name: string;
  readonly path: FileId;
  readonly chain: readonly FileId[];
}

/** A hidden place that is not there has nothing to hide yet. */
function chainOf(name: string): readonly Secret[] {
  try {
    const { fd, chain } = openPath(name);
    const path = fileIdOf(fd);
    closeSync(fd);
    return [{ name, path, chain }];
  } catch {
    return [];
  }
}

/** The id of what is open. */
export function fileIdOf(fd: number): FileId {
  const { dev, ino } = fstatSync(fd, { bigint: true });
  return { device: String(dev), inode: String(ino) };
}

function refused(path: string, why: string): ConsentError {
  return new ConsentError("options_invalid", `Cannot show "${path}" to an agent: ${why}`);
}
