/**
 * Find npm: the installer that came with the node that runs us, or the system's.
 */
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { ConsentError } from "@acp/core";
import { trustedProgram } from "@acp/host";

/**
 * npm's own program, where a sandbox shows it: in /usr, or beside the node that runs us.
 *
 * @param workspaces - Where agents write: it is not taken from there.
 * @throws ConsentError `sandbox_unavailable`.
 */
export function findNpm(workspaces: readonly string[]): string {
  const node = realpathSync(process.execPath);
  const beside = trustedProgram(join(dirname(node), "npm"), { workspaces });
  const found = "reason" in beside ? trustedProgram("npm", { workspaces }) : beside;
  const fix = "install npm beside node";
  if ("reason" in found)
    throw new ConsentError(
      "sandbox_unavailable",
      `Cannot get the packages of a server: ${found.reason}; ${fix}`,
    );
  const real = realpathSync(found.path);
  if (
    real.startsWith("/usr/") ||
    real.startsWith(join(dirname(dirname(node)), "lib/node_modules/"))
  )
    return real;
  throw new ConsentError(
    "sandbox_unavailable",
    `Cannot get the packages of a server: no sandbox shows npm at "${real}"; ${fix}`,
  );
}
