/**
 * Private home: what an agent has as its home and finds again at its next start, by name. It lies in ACP's home, which no agent sees.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { makePrivateDirectory } from "@acp/home";
import type { Home } from "@acp/home";

/**
 * Makes it, or finds it.
 *
 * @returns Its path.
 * @throws ConsentError `home_invalid` where the place of all of them is not ours alone.
 */
export async function keepPrivateHome({ dir }: Pick<Home, "dir">, name: string): Promise<string> {
  const all = join(dir, "homes");
  await makePrivateDirectory(all);
  const path = join(all, name);
  // Where root runs us the sandbox gives it to the agent's user: not checked to be ours.
  await mkdir(path, { mode: 0o700, recursive: true });
  return path;
}
