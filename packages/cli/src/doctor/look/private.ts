/**
 * Private: whether a file is one that a gate would read. Where it is not, the examination of files
 * says so, and what the file holds is not examined.
 */
import { lstat } from "node:fs/promises";

/**
 * Whether it is a plain file of this user.
 *
 * @param mask - Permissions that it must not have; by default those of all other users.
 */
export async function isPrivateFile(path: string, mask = 0o077): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats?.isFile() !== true || (stats.mode & 0o400) === 0) return false;
  const isOwn = stats.uid === process.getuid?.() || (mask !== 0o077 && stats.uid === 0);
  return isOwn && (stats.mode & mask) === 0;
}
