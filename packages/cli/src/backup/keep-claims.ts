/**
 * Keeping claims: what was used once in the home that a restored one replaces stays used, whatever
 * the backup says of it: uses of grants, and answers. Only what a person took away may come back.
 */
import { join } from "node:path";
import { isConsentError } from "@acp/core";
import { carryClaims, fileGrants } from "@acp/home";
import type { HomePaths } from "@acp/home";

/**
 * Claims it in the restored home. Where the claims of the other one cannot be read, nobody knows how
 * often a grant was used, and those that may be used so often end.
 *
 * @returns How many claims hold; `undefined` where they cannot be read.
 */
export async function keepClaims(
  replaced: Pick<HomePaths, "dir">,
  restored: HomePaths,
): Promise<number | undefined> {
  try {
    return await carryClaims(join(replaced.dir, "claims"), join(restored.dir, "claims"));
  } catch (error) {
    if (!isConsentError(error, "home_invalid")) throw error;
    const grants = fileGrants(restored.grantsPath);
    for (const { id, uses } of await grants.list()) if (uses !== undefined) await grants.revoke(id);
    return undefined;
  }
}
