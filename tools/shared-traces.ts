/**
 * What a test of tools/shared-tests.ts left in the process that it shares: an error of the file
 * that did, not a riddle in another one.
 */
import { isDeepStrictEqual } from "node:util";
import { afterAll, vi } from "vitest";

/** Resources that outlive the test that opened them until somebody closes them. */
const HELD = new Set([
  "FSEventWrap",
  "PipeServerWrap",
  "ProcessWrap",
  "StatWatcher",
  "TCPServerWrap",
  "TCPSocketWrap",
  "UDPWrap",
  "Worker",
]);
/** Only ends what hangs. */
const PATIENCE_MS = 120_000;

/** What somebody else in this process would meet. */
export interface Traces {
  readonly values: ReadonlyMap<string, unknown>;
  readonly counts: ReadonlyMap<string, number>;
}

export function traces(): Traces {
  const held = process.getActiveResourcesInfo().filter((name) => HELD.has(name));
  return {
    values: new Map<string, unknown>([
      ["the working directory", process.cwd()],
      ["process.env", { ...process.env }],
      // Libraries keep what they share under symbols, and compilers their helpers under names that
      // begin like these.
      [
        "globals",
        Object.getOwnPropertyNames(globalThis)
          .filter((name) => !name.startsWith("__"))
          .toSorted(),
      ],
    ]),
    counts: new Map([
      ...process
        .eventNames()
        .map((name) => [`a listener of ${String(name)}`, process.listenerCount(name)] as const),
      ...[...HELD].map(
        (name) => [`an open ${name}`, held.filter((one) => one === name).length] as const,
      ),
    ]),
  };
}

/**
 * What has changed or is there in greater number. In a smaller one is well: what another file let
 * go of may be gone by now.
 */
export function leftBehind(before: Traces): readonly string[] {
  const after = traces();
  const changed = [...after.values].filter(
    ([what, value]) => !isDeepStrictEqual(value, before.values.get(what)),
  );
  const more = [...after.counts].filter(([what, count]) => count > (before.counts.get(what) ?? 0));
  return [...changed, ...more].map(([what]) => what);
}

const before = traces();

function checkTraces(): void {
  const left = leftBehind(before);
  if (left.length > 0) throw new Error(`Left in a process that tests share: ${left.join(", ")}`);
}

// What is closed may take a moment to be gone.
afterAll(() => vi.waitFor(checkTraces, { timeout: PATIENCE_MS }), PATIENCE_MS * 2);
