/**
 * Fair queue: requests of several clients before a server that takes only so many at a time. Whoever
 * has fewest of them is next, so that a flood of one client holds up that client alone.
 */

/** Requests of clients `C`. */
export interface FairQueue<C> {
  /** A client that may have requests. */
  join(client: C): void;
  /**
   * Starts a request once there is a place for it.
   *
   * @param start - Gets what gives the place back; called at once where there is one.
   * @returns Takes the request out; false where it was started.
   */
  enter(client: C, start: (done: () => void) => void): () => boolean;
  /** Starts nothing of it any more, and gives back its places. */
  leave(client: C): void;
  /** Starts nothing for now. */
  pause(on: boolean): void;
}

interface Share {
  readonly waiting: Set<Waiting>;
  running: number;
  /** When it had its last place: who had none for longest is next among equals. */
  servedAt: number;
}

interface Waiting {
  readonly start: (done: () => void) => void;
}

/** @param max - Requests that the server has at a time. */
export function createFairQueue<C>(max: number): FairQueue<C> {
  const shares = new Map<C, Share>();
  let running = 0;
  let served = 0;
  let isPaused = false;
  const run = (share: Share, each: Waiting): void => {
    share.waiting.delete(each);
    share.servedAt = ++served;
    share.running++;
    running++;
    let isOver = false;
    each.start(() => {
      if (isOver) return;
      isOver = true;
      share.running--;
      // Of one that left, they were given back already.
      if ([...shares.values()].includes(share)) running--;
      fill();
    });
  };
  const fill = (): void => {
    while (!isPaused && running < max) {
      const share = nextOf([...shares.values()], max);
      const [each] = share?.waiting ?? [];
      if (share === undefined || each === undefined) return;
      run(share, each);
    }
  };
  return {
    join: (client) => void shares.set(client, { waiting: new Set(), running: 0, servedAt: 0 }),
    enter(client, start) {
      const share = shares.get(client);
      if (share === undefined) return () => true;
      const each = { start };
      share.waiting.add(each);
      fill();
      return () => share.waiting.delete(each);
    },
    leave(client) {
      running -= shares.get(client)?.running ?? 0;
      shares.delete(client);
      fill();
    },
    pause(on) {
      isPaused = on;
      fill();
    },
  };
}

/** Whose turn it is; half of the places are left to others, where there are some. */
function nextOf(shares: readonly Share[], max: number): Share | undefined {
  const ownMax = shares.length > 1 ? Math.max(1, Math.floor(max / 2)) : max;
  return shares
    .filter(({ waiting, running }) => waiting.size > 0 && running < ownMax)
    .sort((one, other) =>
      one.running === other.running ? one.servedAt - other.servedAt : one.running - other.running,
    )[0];
}
