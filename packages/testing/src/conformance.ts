/** Conformance: what every suite of this package is made of. Suites know no test runner: give each case to yours. */

/** One requirement; `run` rejects where it is not met. */
export interface ConformanceCase {
  readonly name: string;
  run(): Promise<void>;
}
