/**
 * Helper directories: where code is kept that was compiled on this machine and runs outside of every
 * sandbox. No place that an agent is shown holds one or lies in one.
 */
import { homedir, userInfo } from "node:os";
import { join } from "node:path";

const OF_ROOT = "/var/cache/acp-sandbox";

/**
 * This user's directory of compiled helpers: `/var/cache/acp-sandbox` for root, else `acp-sandbox`
 * in `XDG_CACHE_HOME` or `~/.cache`. It need not exist; who uses it checks it with `trustedPath()`.
 */
export function helperDirectory(): string {
  if (process.getuid?.() === 0) return OF_ROOT;
  const cache = process.env["XDG_CACHE_HOME"];
  return join(
    cache !== undefined && cache.startsWith("/") ? cache : join(homedir(), ".cache"),
    "acp-sandbox",
  );
}

/**
 * This user's directory of code that is loaded before anything is checked. It is the same for every
 * run, whatever the environment says: a directory that a variable chose would not be kept from the
 * agents of a run that chose another one.
 *
 * @returns `/var/cache/acp-sandbox` for root, otherwise `.cache/acp-sandbox` in the home that the
 *   system knows; `undefined` where it knows none. It need not exist.
 */
export function codeDirectory(): string | undefined {
  if (process.getuid?.() === 0) return OF_ROOT;
  try {
    const { homedir: home } = userInfo();
    return home.startsWith("/") ? join(home, ".cache", "acp-sandbox") : undefined;
  } catch {
    return undefined;
  }
}

/** Both: what no agent may see or write. */
export function codePlaces(): readonly string[] {
  const code = codeDirectory();
  return [...new Set([helperDirectory(), ...(code === undefined ? [] : [code])])];
}
