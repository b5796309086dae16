/**
 * The home that a command line and its environment name.
 */
import { openHome, resolveHome } from "@acp/home";
import type { Home } from "@acp/home";
import type { Invocation } from "./command.js";

/** What of a command line names the home. */
export type HomeContext = Pick<Invocation, "values" | "io">;

/**
 * The home's absolute path; it need not exist.
 *
 * @throws ConsentError `home_invalid` where the name is empty.
 */
export function homePath({ values, io }: HomeContext): string {
  return resolveHome({ flag: values.home, env: io.env["ACP_HOME"], homeDir: io.userHome, cwd: io.cwd });
}

/**
 * The home, checked.
 *
 * @throws ConsentError `home_invalid` with the fix.
 */
export function homeOf(context: HomeContext): Promise<Home> {
  return openHome(homePath(context));
}
