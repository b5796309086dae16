/**
 * Installed versions: of this program and of the parts that it loads. Beside main.ts, because a
 * bundle lies one folder below its package too.
 */
import { readFileSync } from "node:fs";

const PARTS: readonly string[] = ["core", "audit", "home", "host", "proxy-mcp", "sandbox-linux"];

/** The version of each part; `undefined` where a bundle holds it. */
export function installedVersions(): ReadonlyMap<string, string | undefined> {
  const own = versionIn(new URL("../package.json", import.meta.url));
  const parts = PARTS.map((name): [string, string | undefined] => {
    try {
      return [name, versionIn(new URL(import.meta.resolve(`@acp/${name}/package.json`)))];
    } catch {
      return [name, undefined];
    }
  });
  return new Map([["cli", own], ...parts]);
}

function versionIn(url: URL): string | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(url, "utf8"));
    return typeof manifest === "object" && manifest !== null && "version" in manifest
      ? String(manifest.version)
      : undefined;
  } catch {
    return undefined;
  }
}
