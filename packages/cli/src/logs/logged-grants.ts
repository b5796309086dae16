/**
 * The home's grants, held against its logs: a file that is older than they note has none, each save
 * is noted, and a grant that may be used so often is used no more often than they say.
 */
import { readAuditLog } from "@acp/audit";
import { isConsentError } from "@acp/core";
import type { Grant, Grants } from "@acp/core";
import { fileGrants } from "@acp/home";
import type { FileGrantsOptions, HomePaths } from "@acp/home";
import { olderText } from "../rollback/state-guard.js";
import type { RollbackGuard } from "../rollback/state-guard.js";
import { readIndexKey } from "./index-key.js";
import { listAuditFiles } from "./log-files.js";

/** Parts of {@link loggedGrants}. */
export interface LoggedGrantsParts extends Pick<FileGrantsOptions, "onIgnored"> {
  readonly guard: RollbackGuard;
}

/** The grants of a home. */
export function loggedGrants(home: HomePaths, { guard, ...options }: LoggedGrantsParts): Grants {
  const grants = fileGrants(home.grantsPath, {
    ...options,
    guard: guard.of("grants"),
    onOlder: (why) => guard.tell(olderText(home.grantsPath, "grants", why)),
  });
  return {
    ...grants,
    async find(agentId, action, nowMs) {
      try {
        return await grants.find(agentId, action, nowMs);
      } catch (error) {
        // What a log would say of them is not known: people are asked, as without any.
        if (!isConsentError(error, "audit_failed")) throw error;
        guard.tell(`No earlier consent counts: ${error.message}`);
        return [];
      }
    },
    async use(id, nowMs) {
      const grant = await grants.get(id);
      if (grant?.uses !== undefined && (await countUses(home, grant, grant.uses)) >= grant.uses)
        return false;
      return grants.use(id, nowMs);
    },
  };
}

/**
 * How often the logs say that a grant was used, up to a number: the file's own count may be one of
 * before.
 */
async function countUses(
  home: HomePaths,
  { id, createdAtMs: sinceMs }: Grant,
  max: number,
): Promise<number> {
  const reading = {
    filter: { eventType: "grant_used", sinceMs },
    indexKey: await readIndexKey(home),
  };
  let count = 0;
  for (const path of await listAuditFiles(home.dir))
    for await (const { metadata } of readAuditLog(path, reading))
      if (metadata["grant"] === id && ++count >= max) return count;
  return count;
}
