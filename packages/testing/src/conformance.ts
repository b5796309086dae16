/**
 * Conformance: what every suite of this package is made of. Suites know no test runner: give each
 * case to yours.
 */

/** One requirement of a conformance suite. Pass each case to your test runner. */
export interface ConformanceCase {
  /** The requirement in words; use it as the test's name. */
  readonly name: string;
  /** Tests the requirement; rejects with what is wrong where it is not met. */
  run(): Promise<void>;
}

/**
 * Waits for a case, and fails it where the adapter is stuck: a store whose watch says nothing would
 * otherwise hang its author's test run.
 *
 * @throws Error after `patienceMs`, and what the case throws.
 */
export async function withPatience(running: Promise<void>, patienceMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const stuck = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`it is stuck: nothing happened for ${patienceMs} ms`)),
      patienceMs,
    );
  });
  try {
    await Promise.race([running, stuck]);
  } finally {
    clearTimeout(timer);
  }
}
