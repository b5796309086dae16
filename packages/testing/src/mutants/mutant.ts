/**
 * Mutants: adapters with one fault each. A conformance suite that lets one pass does not catch that
 * fault; run them when you write a suite of your own, or wonder whether yours notices.
 */
import type { ConformanceCase } from "../conformance.js";

/** A fault that turns a good adapter into a bad one, to test a conformance suite. */
export interface Mutant<T> {
  /** The fault, as a sentence without its subject: "keeps a denial to itself". */
  readonly name: string;
  /** A copy of a good adapter that has the fault. */
  mutate(good: T): T;
}

/** Name of the first case that fails; `undefined` where all pass. */
export async function firstBroken(cases: readonly ConformanceCase[]): Promise<string | undefined> {
  for (const { name, run } of cases) {
    try {
      await run();
    } catch {
      return name;
    }
  }
  return undefined;
}
