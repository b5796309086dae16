/** Server directory: what each MCP server has of its own below the home of ACP, where no agent can write. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { makePrivateDirectory } from "@acp/home";

/**
 * The directory of one server; made where it is not there yet.
 *
 * @throws ConsentError `home_invalid`.
 */
export async function serverDirectory(homeDir: string, name: string): Promise<string> {
  const all = join(homeDir, "servers");
  await makePrivateDirectory(all);
  const own = join(all, name);
  await mkdir(own, { mode: 0o700, recursive: true });
  return own;
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
