/**
 * Own paths: what of ours an agent must neither see nor change. A workspace or a readable directory
 * that holds one of them is refused.
 */
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import type { Home } from "@acp/home";
import type { Invocation } from "../command.js";
import type { HomeConfig } from "../gate/config.js";
import { keyFilePath } from "../home/unlock.js";

/** Where things of ours are said to be. */
export interface OwnPathsParts {
  readonly home: Home;
  readonly source: HomeConfig;
  readonly invocation: Pick<Invocation, "values" | "io">;
}

/**
 * The home, and what its configuration, the command line and the environment put elsewhere: a
 * policy that the agent could write would be its own. Each as it is named and, where it leads
 * elsewhere, as what it is.
 */
export async function ownPaths({
  home,
  source: { file, policyFile, config },
  invocation,
}: OwnPathsParts): Promise<readonly string[]> {
  const { cwd, env } = invocation.io;
  const passphrase = env["ACP_PASSPHRASE_FILE"];
  const named = [
    home.dir,
    file,
    policyFile,
    keyFilePath(home, invocation),
    ...(passphrase === undefined ? [] : [resolve(cwd, passphrase)]),
    ...(config?.http?.agents ?? []).flatMap(({ policyPath }) =>
      policyPath === undefined ? [] : [policyPath],
    ),
    ...(config?.audit?.witnesses ?? []).flatMap((witness) =>
      "directory" in witness ? [witness.directory] : [],
    ),
  ];
  // What is not there leads nowhere.
  const real = await Promise.all(named.map((path) => realpath(path).catch(() => path)));
  return [...new Set([...named, ...real])];
}
