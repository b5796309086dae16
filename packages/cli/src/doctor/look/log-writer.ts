/** Log writer: whether a live process writes a log, by the socket beside it. */
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isRefused } from "../../gate/stale-sockets.js";

/** Whether a live process holds a log's lock. */
export async function hasWriter(path: string): Promise<boolean> {
  const prefix = `${basename(path)}.lock.`;
  const names = (await readdir(dirname(path))).filter((name) => name.startsWith(prefix));
  const refused = await Promise.all(names.map((name) => isRefused(join(dirname(path), name))));
  return refused.includes(false);
}
