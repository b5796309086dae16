/**
 * The home that a command line and its environment name.
 */
import { existsSync } from "node:fs";
import { ConsentError } from "@acp/core";
import { openHome, resolveHome } from "@acp/home";
import type { Home } from "@acp/home";
import type { Invocation } from "../command.js";

/** What of a command line names the home. */
export type HomeContext = Pick<Invocation, "values" | "io">;

/**
 * The home's absolute path; it need not exist.
 *
 * @throws ConsentError `home_invalid` where the name is empty.
 */
export function homePath({ values, io }: HomeContext): string {
  return resolveHome({
    flag: values.home,
    env: io.env["ACP_HOME"],
    homeDir: io.userHome,
    cwd: io.cwd,
  });
}

/**
 * The same, for those that cannot do without a home or make one.
 *
 * @throws ConsentError `home_invalid` also inside a sandbox that hides it: a new one there would be
 *   a gate of the agent's own.
 */
export function ownHomePath(context: HomeContext): string {
  const path = homePath(context);
  const sandbox = context.io.env["ACP_SANDBOX"];
  if (sandbox === undefined || sandbox === "" || existsSync(path)) return path;
  throw new ConsentError(
    "home_invalid",
    `Cannot use home "${path}": this is inside sandbox "${sandbox}" of acp run, which hides it; MCP servers are reached by starting acp-mcp-bridge`,
  );
}

/**
 * The home, checked.
 *
 * @throws ConsentError `home_invalid` with the fix.
 */
export function homeOf(context: HomeContext): Promise<Home> {
  return openHome(ownHomePath(context));
}
