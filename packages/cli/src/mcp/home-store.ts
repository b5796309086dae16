/**
 * Store of a gate: what has to outlive its process, in files of the home. Limits and revocations are its own and stay in memory.
 */
import { join } from "node:path";
import type { Store } from "@acp/core";
import { fileClaims, fileGrants, heldQuestions, openPendingFiles } from "@acp/home";
import type { Home } from "@acp/home";

/** The stores that are files. */
export interface HomeStore extends AsyncDisposable {
  readonly store: Pick<Store, "claims" | "grants" | "pending">;
  /** Questions that are open: those that a dead process left and that are now this one's, and those of other live gates. */
  readonly heldOpen: ReadonlySet<string>;
}

/**
 * Opens them, and takes over what dead processes left open.
 *
 * @throws ConsentError `home_invalid`, with the fix.
 */
export async function openHomeStore(home: Home): Promise<HomeStore> {
  const directory = join(home.dir, "pending");
  const pending = await openPendingFiles(directory);
  return {
    store: { claims: fileClaims(join(home.dir, "claims")), grants: fileGrants(home.grantsPath), pending },
    heldOpen: await heldQuestions(directory),
    [Symbol.asyncDispose]: () => pending[Symbol.asyncDispose](),
  };
}
