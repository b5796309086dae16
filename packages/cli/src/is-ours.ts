/** Is ours: loaded by clients that must start fast, so it imports nothing else. */
import { lstatSync } from "node:fs";

/** Whether a path is a folder or a socket that only `uid` can reach; no link. */
export function isOurs(path: string, uid: number): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return (
    found !== undefined &&
    (found.isDirectory() || found.isSocket()) &&
    found.uid === uid &&
    (found.mode & 0o077) === 0
  );
}
