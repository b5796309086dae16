/**
 * Store of a gate: what has to outlive its process, in files of the home. Limits and revocations are its own and stay in memory.
 */
import { join } from "node:path";
import type { Store } from "@acp/core";
import { fileClaims, fileGrants, openPendingFiles } from "@acp/home";
import type { Home } from "@acp/home";

/** The stores that are files. */
export interface HomeStore extends AsyncDisposable {
  readonly store: Pick<Store, "claims" | "grants" | "pending">;
  /** Questions that an earlier process left open, and that are now this one's. */
  readonly leftOpen: ReadonlySet<string>;
}

/**
 * Opens them, and takes over what dead processes left open.
 *
 * @throws ConsentError `home_invalid`, with the fix.
 */
export async function openHomeStore(home: Home): Promise<HomeStore> {
  const pending = await openPendingFiles(join(home.dir, "pending"));
  return {
    store: { claims: fileClaims(join(home.dir, "claims")), grants: fileGrants(home.grantsPath), pending },
    leftOpen: pending.leftOpen,
    [Symbol.asyncDispose]: () => pending[Symbol.asyncDispose](),
  };
}
