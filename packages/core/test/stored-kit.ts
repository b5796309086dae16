/** One store under several gates, and what the tests of stored consent do with them. */
import { manualClock } from "@acp/testing";
import {
  type GateOptions,
  type Layer,
  memoryStore,
  type PendingRecord,
  type PendingStore,
  type Store,
  toolAction,
  type Verdict,
} from "../src/index.js";
import { agent, asPending, type Kit, makeKit } from "./gate-kit.js";

export const write = toolAction("files", "write_file", { path: "a.txt" });
export const scope = { kind: "tool", server: "files", name: "write_file" } as const;
export const offering: Layer = {
  name: "offering",
  judge: () => ({
    effect: "ask",
    ruleId: "o",
    reason: "",
    ask: { offers: [{ id: "t", scope, ttlMs: 300_000, uses: 2 }] },
  }),
};

/** One gate after the other over one store, as processes of one home. */
export function world(options: Partial<GateOptions> = {}): {
  readonly store: Store;
  readonly clock: Kit["clock"];
  start(more?: Partial<GateOptions>): Kit;
} {
  const clock = manualClock();
  const store = memoryStore(clock);
  return {
    store,
    clock,
    start: (more) => makeKit({ store, clock, lastEventMs: clock.now(), ...options, ...more }),
  };
}

export const ignoredOf = ({ sink }: Kit): readonly unknown[] =>
  sink.events
    .filter(({ eventType }) => eventType === "stored_record_ignored")
    .map(({ metadata }) => metadata);

/** Asks; the verdict, or undefined where a person is asked. */
export async function asked(kit: Kit, action = write): Promise<Verdict | undefined> {
  let verdict: Verdict | undefined;
  void kit.gate(action, { agent }).then((given) => (verdict = given));
  await kit.settle();
  return verdict;
}

export async function defer(kit: Kit): Promise<void> {
  await asPending(await kit.gate.open(write, { agent })).defer();
  await kit.settle();
}

/** The records of a store, in a test's hands: what it holds can be read, and put back. */
export async function only(pending: PendingStore): Promise<PendingRecord> {
  for await (const record of pending.open()) return record;
  throw new Error("no question is open");
}
