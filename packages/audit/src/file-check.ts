/**
 * File check: whether the file under a log's name is still the one that was written to, and as it
 * was left. Whoever reads it again says whether its bytes are the same.
 */
import { fstatSync, statSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import type { LineGroup } from "./group-commit.js";

/** Reads the file again; resolves with why nothing may be added to it. */
export type Recheck = (next: LineGroup) => Promise<Error | undefined>;

/** Checks one log's file. */
export interface FileCheck {
  /** Another file has the name from now on. */
  take(handle: FileHandle): void;
  /**
   * Checks before a write.
   *
   * @returns Whether the file was touched and is still to be read again.
   * @throws Error where it is not what was left.
   */
  before(next: LineGroup, size: number): Promise<boolean>;
  /** Of the file that has the name. */
  inode(): bigint;
  /** Remembers how a write left it. */
  wrote(handle: FileHandle): void;
}

/** Without `recheck`, only another size or another file counts. */
export function createFileCheck(path: string, recheck: Recheck | undefined): FileCheck {
  const lookAgain = recheck === undefined ? undefined : seldom(recheck);
  let [dev, ino, written] = [-1n, -1n, -1n];

  /**
   * Synchronous on purpose: a few microseconds, once a group.
   *
   * @returns When it was written to.
   */
  function checkPlace(size: number): bigint {
    const found = statSync(path, { throwIfNoEntry: false, bigint: true });
    if (found === undefined || found.ino !== ino || found.dev !== dev)
      throw new Error("it was removed or replaced");
    if (found.size !== BigInt(size))
      throw new Error(`it has ${found.size} bytes, expected ${size}: something else changed it`);
    return found.mtimeNs;
  }

  return {
    take(handle) {
      ({ dev, ino, mtimeNs: written } = fstatSync(handle.fd, { bigint: true }));
    },
    async before(next, size) {
      // Bytes can be other ones although the size is the same.
      if (checkPlace(size) === written || lookAgain === undefined) return false;
      const end = await lookAgain(next);
      if (end instanceof Error) throw end;
      return end === "later";
    },
    inode: () => ino,
    wrote(handle) {
      written = fstatSync(handle.fd, { bigint: true }).mtimeNs;
    },
  };
}

/**
 * Reads a file again at most a twentieth of the time: where its time changes by itself, every
 * append would read all of it.
 */
function seldom(recheck: Recheck): (next: LineGroup) => Promise<Error | undefined | "later"> {
  let notBefore = 0;
  return async (next) => {
    const startMs = performance.now();
    if (startMs < notBefore) return "later";
    const end = await recheck(next);
    const endMs = performance.now();
    notBefore = endMs + 19 * (endMs - startMs);
    return end;
  };
}
