/** UID release: takes back the rules of a manager that is gone. */
import { deleteTable } from "./nft.js";
import { parseTableName } from "./nft-rules.js";
import type { SessionRecord } from "./parts.js";
import { processesOf } from "./uid-processes.js";
import { openRoutes } from "./uid-routes.js";

/**
 * Deletes its table and opens the routes, unless something of its agent's uid still runs: false
 * then, and it stays closed.
 */
export async function releaseUid({ nftTable }: SessionRecord): Promise<boolean> {
  if (nftTable === undefined) return true;
  const uid = parseTableName(nftTable)?.uid;
  if (uid === undefined || processesOf(uid).length > 0) return false;
  try {
    await deleteTable(nftTable);
    await openRoutes(uid);
    return true;
  } catch {
    return false;
  }
}
