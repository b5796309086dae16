/** Build of: loaded by clients that must start fast, so it imports nothing else. */
import { statSync } from "node:fs";

/** Which files a side was loaded from. Another installation, or one that was changed, differs. */
export function buildOf(entry: string): string {
  const { dev, ino, size, mtimeMs } = statSync(entry);
  return `${dev}:${ino}:${size}:${mtimeMs}`;
}
