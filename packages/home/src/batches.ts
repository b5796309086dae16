/**
 * Batches: what comes while work is under way is done together afterwards, so that many changes
 * share one sync.
 */

/** Takes one item; settles with what the work made of it. */
export type Batched<I, O> = (item: I) => Promise<O>;

interface Waiting<I, O> {
  readonly item: I;
  readonly resolve: (result: O) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs `work` on batches, one after the other, in the order of their items; a batch whose work
 * throws is rejected as a whole.
 */
export function inBatches<I, O>(
  work: (items: readonly I[]) => Promise<readonly O[]>,
): { readonly take: Batched<I, O>; idle(): Promise<void> } {
  let queue: Waiting<I, O>[] = [];
  let working: Promise<void> | undefined;

  async function workAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue;
      queue = [];
      try {
        const results = await work(batch.map(({ item }) => item));
        for (const [at, result] of results.entries()) batch[at]?.resolve(result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    working = undefined;
  }

  return {
    take: (item) =>
      new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject });
        working ??= Promise.resolve().then(workAll);
      }),
    idle: () => working ?? Promise.resolve(),
  };
}
