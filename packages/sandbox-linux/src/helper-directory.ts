/**
 * Helper directory: where code is kept that was compiled on this machine and runs outside of every
 * sandbox. No place that an agent is shown holds it or lies in it.
 */
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * This user's directory of compiled code: `/var/cache/acp-sandbox` for root, else `acp-sandbox` in
 * `XDG_CACHE_HOME` or `~/.cache`. It need not exist; who uses it checks it with `trustedPath()`.
 */
export function helperDirectory(): string {
  if (process.getuid?.() === 0) return "/var/cache/acp-sandbox";
  const cache = process.env["XDG_CACHE_HOME"];
  return join(
    cache !== undefined && cache.startsWith("/") ? cache : join(homedir(), ".cache"),
    "acp-sandbox",
  );
}
