/** What a schedule is made of: the steps that fast-check draws, and a store that a step breaks. */
import fc from "fast-check";
import type { Store } from "../src/index.js";

/** One step of a schedule. */
export type Step =
  | { readonly do: "call"; readonly path: number; readonly agent: number }
  | {
      readonly do: "answer";
      readonly question: number;
      readonly how: "yes" | "no" | "edit" | "wrong nonce" | "wrong id" | "nonsense";
      readonly who: number;
      readonly bytes: boolean;
    }
  | { readonly do: "abort" | "leave" | "defer" | "withdraw" | "perform"; readonly call: number }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "jump"; readonly ms: number }
  | { readonly do: "sink"; readonly mode: "works" | "throws" | "hangs" }
  | { readonly do: "store"; readonly mode: "works" | "throws" | "hangs" }
  | { readonly do: "channel"; readonly mode: "shows" | "throws" | "hangs" | "answers twice" };

const index = fc.nat({ max: 5 });
/** Any step; calls and answers come more often. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("call" as const),
      path: fc.nat({ max: 1 }),
      agent: fc.nat({ max: 1 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("answer" as const),
      question: index,
      how: fc.constantFrom(
        "yes" as const,
        "yes" as const,
        "no" as const,
        "edit" as const,
        "wrong nonce" as const,
        "wrong id" as const,
        "nonsense" as const,
      ),
      who: fc.nat({ max: 3 }),
      bytes: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "abort" as const,
        "leave" as const,
        "defer" as const,
        "withdraw" as const,
        "perform" as const,
      ),
      call: index,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("advance" as const),
      ms: fc.constantFrom(1, 1_000, 31_000, 61_000, 121_000, 301_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("jump" as const),
      ms: fc.constantFrom(-3_600_000, 86_400_000, 60_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("sink" as const),
      mode: fc.constantFrom(
        "works" as const,
        "works" as const,
        "throws" as const,
        "hangs" as const,
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("store" as const),
      mode: fc.constantFrom(
        "works" as const,
        "works" as const,
        "throws" as const,
        "hangs" as const,
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("channel" as const),
      mode: fc.constantFrom(
        "shows" as const,
        "throws" as const,
        "hangs" as const,
        "answers twice" as const,
      ),
    }),
  },
);

/** A store that throws or hangs on command, in front of a real one. */
export function breakable(store: Store): {
  readonly store: Store;
  mode: "works" | "throws" | "hangs";
} {
  const switchable: { store: Store; mode: "works" | "throws" | "hangs" } = { store, mode: "works" };
  const guard =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> => {
      if (switchable.mode === "throws") return Promise.reject(new Error("store down"));
      return switchable.mode === "hangs" ? new Promise(() => undefined) : work(...args);
    };
  const { pending, limits, grants } = store;
  switchable.store = {
    ...store,
    limits: { reserve: guard(limits.reserve), settle: guard(limits.settle) },
    grants: { ...grants, find: guard(grants.find), use: guard(grants.use) },
    pending: {
      ...pending,
      put: guard(pending.put),
      get: guard(pending.get),
      transition: guard(pending.transition),
      takeDecision: guard(pending.takeDecision),
    },
  };
  return switchable;
}
