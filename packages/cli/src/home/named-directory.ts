/**
 * Named directory: what somebody has of their own below the home of ACP, by name, where no agent
 * can write.
 */
import { lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { ConsentError } from "@acp/core";
import { makePrivateDirectory } from "@acp/home";

/**
 * The directory of that name in a folder of the home; each made where it is not there yet.
 *
 * @returns Its path. It is not checked to be ours: where root runs us, a sandbox may give it to the
 *   agent's user.
 * @throws ConsentError `home_invalid` where the folder is not ours alone, or a link has the name:
 *   it would lead out of the home.
 */
export async function namedDirectory(
  homeDir: string,
  folder: "homes" | "servers",
  name: string,
): Promise<string> {
  const all = join(homeDir, folder);
  await makePrivateDirectory(all);
  const own = join(all, name);
  await mkdir(own, { mode: 0o700, recursive: true });
  if (!(await lstat(own)).isDirectory())
    throw new ConsentError("home_invalid", `Cannot use "${own}": it is a link, not a directory`);
  return own;
}
