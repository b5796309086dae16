/**
 * Server directory: what each MCP server has of its own below the home of ACP, where no agent can
 * write.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { namedDirectory } from "../home/named-directory.js";

/**
 * The directory of one server; made where it is not there yet.
 *
 * @throws ConsentError `home_invalid`.
 */
export function serverDirectory(homeDir: string, name: string): Promise<string> {
  return namedDirectory(homeDir, "servers", name);
}

/**
 * The private home of one server in its sandbox: what it keeps there, it finds at its next start.
 *
 * @throws ConsentError `home_invalid`.
 */
export async function serverHome(homeDir: string, name: string): Promise<string> {
  const home = join(await serverDirectory(homeDir, name), "home");
  await mkdir(home, { mode: 0o700, recursive: true });
  return home;
}
