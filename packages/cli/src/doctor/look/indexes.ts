/** Indexes: how much of the logs has no index yet, which the next start makes. */
import { rebuildAuditIndex } from "@acp/audit";
import { asError, isConsentError } from "@acp/core";
import type { HomePaths } from "@acp/home";
import { basename } from "node:path";
import { LAG_BYTES_MAX, lagOf, percentOf, readIndexLag } from "../../logs/index-rebuild.js";
import { readIndexKey } from "../../logs/index-key.js";
import { listAuditFiles } from "../../logs/log-files.js";
import { makeFound } from "../finding.js";
import type { Found } from "../finding.js";

/**
 * Found where a start would have to make much of them.
 *
 * @param lagBytesMax - In place of what a start may read; for tests.
 */
export async function indexesFound(
  home: Pick<HomePaths, "dir" | "keysDir">,
  lagBytesMax: number = LAG_BYTES_MAX,
): Promise<readonly Found[]> {
  const lag = await readIndexLag(home);
  const bytes = lagOf(lag);
  if (bytes <= lagBytesMax) return [];
  const megabytes = Math.ceil(bytes / 1e6);
  return [
    makeFound("index_behind", {
      path: home.dir,
      found: `The indexes cover ${percentOf(lag)} % of the logs; ${megabytes} MB are missing`,
      mend: {
        what: "make what the indexes of the logs lack",
        note: "own",
        run: () => makeIndexes(home),
      },
    }),
  ];
}

async function makeIndexes(home: Pick<HomePaths, "dir" | "keysDir">): Promise<string> {
  const indexKey = await readIndexKey(home);
  if (indexKey === undefined) return "This home has no checkpoint key, and so no index";
  const left: string[] = [];
  for (const path of await listAuditFiles(home.dir))
    try {
      if (!(await rebuildAuditIndex(path, { indexKey })))
        left.push(`${basename(path)}: a line is not good; acp doctor names it`);
    } catch (error) {
      if (!isConsentError(error)) throw error;
      // Its gate makes the index.
      left.push(`${basename(path)}: ${asError(error).message}`);
    }
  return left.length === 0 ? "The indexes are whole" : left.join("; ");
}
