/**
 * Store of a gate: what has to outlive its process, in files of the home. Limits stay in memory:
 * the gate's own, or those that the gates of one process share.
 */
import { join } from "node:path";
import { createRecordCheck } from "@acp/core";
import type { Claims, PendingRecord, Store } from "@acp/core";
import { fileClaims, openPendingFiles } from "@acp/home";
import type { Home, KnownQuestions, PendingFiles } from "@acp/home";
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
 * Opens the home's questions, and takes over those that dead processes left.
 *
 * @throws ConsentError `home_invalid`, with the fix.
 */
export function openHomePending(
  { dir }: Pick<Home, "dir">,
  recordKey: Uint8Array,
): Promise<PendingFiles> {
  return openPendingFiles(join(dir, "pending"), createRecordCheck(recordKey));
}

/** What a process knows already when it opens a store. */
export interface KnownBefore {
  /** Of the home's logs. */
  readonly noted?: NotedFollower | undefined;
  /** What it took over from dead processes. */
  readonly left?: PendingFiles | undefined;
}

/**
 * Opens them, and takes over what dead processes left open.
 *
 * @param recordKey - Of the home's gates.
 * @throws ConsentError `home_invalid`, with the fix.
 */
export async function openHomeStore(
  home: Home,
  recordKey: Uint8Array,
  { noted, left }: KnownBefore = {},
): Promise<HomeStore> {
  const pending = await openHomePending(home, recordKey);
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
    known: left === undefined ? pending : knownBeside(pending, left),
    left: pending.left,
    ignored: pending.ignored,
    onIgnoredGrants: (next) => void (say = next),
    guard,
    [Symbol.asyncDispose]: () => (closing ??= Promise.resolve(pending[Symbol.asyncDispose]())),
  };
}

/**
 * What this process took over is as dead as it was, although a live process has it now: nobody is
 * about to write down what came of it.
 */
function knownBeside(own: KnownQuestions, left: PendingFiles): KnownQuestions {
  const over = new Set(left.left.map(({ id }) => id).filter((id) => !left.held.has(id)));
  const held = new Set([...own.held].filter((id) => !over.has(id)));
  const untaken = [...own.untaken, ...left.untaken].filter((id) => !held.has(id));
  return { held, untaken: new Set(untaken) };
}
