/**
 * Mutants: adapters with one fault each. A conformance suite that lets one pass does not catch that
 * fault; run them when you write a suite of your own, or wonder whether yours notices.
 */
import type { ConformanceCase } from "../conformance.js";

/** One faulty adapter, made from a good one. */
export interface Mutant<T> {
  /** What is wrong with it, as a sentence without its subject: "keeps a denial to itself". */
  readonly name: string;
  /** Takes a good adapter and gives it its fault. */
  mutate(good: T): T;
}

/** The first law of a suite that an adapter breaks; `undefined` where it keeps all of them. */
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
