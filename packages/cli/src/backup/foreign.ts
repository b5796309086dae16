/**
 * Foreign: what is in a home and has no name that ACP gives. Nothing is decided by it: a person sees
 * it before a home is deleted.
 */
import { readdir } from "node:fs/promises";

/** Names of spec/home.md. */
const OWN: readonly RegExp[] = [
  /^(?:config|policy)\.yml$/,
  /^(?:format|policies|configs|paused-agents|keys|claims|pending|quarantined|run|servers|homes|reviews)$/,
  /^(?:paused|vault|grants|passkeys)\.json(?:\.(?:older|lost)-[0-9a-f]{8})?$/,
  /^record\.key$/,
  /^mcp-tokens$/,
  /^audit(?:\.\d{1,4})?(?:\.v0\.3)?\.jsonl(?:\.|$)/,
  /\.lock\.[0-9a-f.]+$/,
  /^\..*\.tmp$/,
];

/** The names in a home that are not ACP's. */
export async function foreignIn(dir: string): Promise<readonly string[]> {
  const names = await readdir(dir);
  return names.filter((name) => !OWN.some((own) => own.test(name))).toSorted();
}
