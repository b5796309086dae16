/**
 * Renewal lock: one change of a server's token at a time, of all processes of the home; servers do
 * not wait for each other. Format: spec/mcp-proxy.md §19.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { makePrivateDirectory, whileWriting } from "@acp/home";
import type { Home } from "@acp/home";
import { runDirectory } from "../../gate/run-directory.js";

/** Of the hash: a socket's path has to be short, and two servers may well share a lock. */
const HASH_CHARS = 8;

/**
 * Runs `change` while nobody else renews or removes the server's token.
 *
 * @throws ConsentError `home_busy` if another process does not finish; what `change` throws.
 */
export async function whileRenewing<T>(
  { dir }: Pick<Home, "dir">,
  server: string,
  change: () => Promise<T>,
): Promise<T> {
  const run = runDirectory(dir);
  const hash = createHash("sha256").update(server).digest("hex").slice(0, HASH_CHARS);
  const lock = join(run, `oauth-${hash}`);
  await makePrivateDirectory(run);
  await makePrivateDirectory(lock);
  return whileWriting(lock, change);
}
