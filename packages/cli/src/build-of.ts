/** Build of: loaded by clients that must start fast, so it imports nothing else. */
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** Which files a side was loaded from. Another installation, or one that was changed, differs. */
export function buildOf(entry: string): string {
  const { dev, ino, size, mtimeMs } = statSync(entry);
  return `${dev}:${ino}:${size}:${mtimeMs}`;
}

/** The version of the package whose `dist` or `src` the entry is in; `unknown` where it says none. */
export function versionOf(entry: string): string {
  const file = join(dirname(entry), "../package.json");
  const manifest: unknown = JSON.parse(readFileSync(file, "utf8"));
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "unknown";
}
