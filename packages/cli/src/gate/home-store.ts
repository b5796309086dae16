/**
 * Store of a gate: what has to outlive its process, in files of the home. Limits stay in memory:
 * the gate's own, or those that the gates of one process share.
 */
import { join } from "node:path";
import { createRecordCheck } from "@acp/core";
import type { Claims, PendingRecord, Store } from "@acp/core";
import { fileClaims, openPendingFiles } from "@acp/home";
import type { Home, KnownQuestions } from "@acp/home";
import { loggedGrants } from "../logs/logged-grants.js";
import type { NotedFollower } from "../rollback/noted-states.js";
import { createRollbackGuard, nothingSaved } from "../rollback/state-guard.js";
import type { RollbackGuard } from "../rollback/state-guard.js";

/** The stores that are files. Disposing of it twice is the same as once. */
export interface HomeStore extends AsyncDisposable {
  readonly store: Pick<Store, "claims" | "grants" | "pending"> & Partial<Pick<Store, "limits">>;
  /** What is known of questions that a log may show as open. */
  readonly known: KnownQuestions;
  /** Questions that dead processes left. */
  readonly left: readonly PendingRecord[];
  /**
   * How many lines of dead processes' questions were given up: no gate with this key wrote them.
   */
  readonly ignored: number;
  /** Calls back once with each number of entries that are no grants. */
  onIgnoredGrants(say: (count: number) => void): void;
  /** Holds grants and passkeys against the home's logs. */
  readonly guard: RollbackGuard;
}

/** What can be used once, for every process of the home. */
export const homeClaims = ({ dir }: Pick<Home, "dir">): Claims => fileClaims(join(dir, "claims"));

/**
 * Opens them, and takes over what dead processes left open.
 *
 * @param recordKey - Of the home's gates.
 * @param noted - What the process knows of the home's logs already.
 * @throws ConsentError `home_invalid`, with the fix.
 */
export async function openHomeStore(
  home: Home,
  recordKey: Uint8Array,
  noted?: NotedFollower,
): Promise<HomeStore> {
  const directory = join(home.dir, "pending");
  const accepts = createRecordCheck(recordKey);
  const pending = await openPendingFiles(directory, accepts);
  const told = new Set<number>();
  let say = (_count: number): void => undefined;
  let closing: Promise<void> | undefined;
  const guard = createRollbackGuard(home, nothingSaved, noted);
  const onIgnored = (count: number): void => {
    if (!told.has(count)) say(count);
    told.add(count);
  };
  return {
    store: {
      claims: homeClaims(home),
      grants: loggedGrants(home, { guard, onIgnored }),
      pending,
    },
    known: pending,
    left: pending.left,
    ignored: pending.ignored,
    onIgnoredGrants: (next) => void (say = next),
    guard,
    [Symbol.asyncDispose]: () => (closing ??= Promise.resolve(pending[Symbol.asyncDispose]())),
  };
}
