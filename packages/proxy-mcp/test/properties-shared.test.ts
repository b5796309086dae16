/** Properties of a server that clients share. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { argumentsOf, call, calls, double, turn } from "./support/shared-double.js";
import type { Message } from "./support/shared-double.js";

it("gives each client its own answers, whatever the order, also where it dies", async () => {
  const CLIENTS = 3;
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant("call" as const),
        of: fc.nat(CLIENTS - 1),
        id: fc.nat(5),
      }),
    },
    { weight: 5, arbitrary: fc.record({ do: fc.constant("answer" as const), at: fc.nat(20) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant("cancel" as const),
        of: fc.nat(CLIENTS - 1),
        id: fc.nat(5),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant("leave" as const), of: fc.nat(CLIENTS - 1) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("die" as const) }) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.integer({ min: 1, max: 4 }),
      async (steps, callsMax) => {
        const d = double({ callsMax });
        const all = Array.from({ length: CLIENTS }, () => d.connect());
        await Promise.all(all.map((each) => each.ready()));
        const open = all.map(() => new Map<number, string>());
        const isGone = all.map(() => false);
        let nonce = 0;
        const done = new Set<string | number>();
        for (const each of steps) {
          let answered: string | undefined;
          if (each.do === "call") {
            // A client uses no id twice at a time.
            if (open[each.of]?.has(each.id) === true || isGone[each.of] === true) continue;
            const mine = `${each.of}-${nonce++}`;
            open[each.of]?.set(each.id, mine);
            all[each.of]?.says(call(each.id, { arguments: { mine } }));
          } else if (each.do === "answer") {
            const waiting = calls(d).filter(({ id }) => id !== undefined && !done.has(id));
            const one = waiting[each.at % Math.max(1, waiting.length)];
            if (one?.id !== undefined) {
              done.add(one.id);
              answered = String(argumentsOf(one)["mine"]);
              d.says({ id: one.id, result: { mine: answered } });
            }
          } else if (each.do === "cancel") {
            if (open[each.of]?.delete(each.id) === true)
              all[each.of]?.says({
                method: "notifications/cancelled",
                params: { requestId: each.id },
              });
          } else if (each.do === "leave") {
            isGone[each.of] = true;
            all[each.of]?.process.kill();
          } else {
            d.dies();
            isGone.fill(true);
          }
          await turn();
          for (const [of, { heard }] of all.entries())
            for (const { id, result, error } of (heard as Message[]).splice(0)) {
              if (id === "init" || typeof id !== "number") continue;
              const mine = open[of]?.get(id);
              // Exactly one answer to what is open, with what was asked for.
              expect(mine).toBeDefined();
              if (error === undefined) expect(result).toEqual({ mine });
              else expect(error.message).toContain("exited with code 3");
              open[of]?.delete(id);
            }
          // What the server answered has come, to whom it was for.
          const waits = open.flatMap((mine, of) => (isGone[of] ? [] : [...mine.values()]));
          expect(waits).not.toContain(answered);
        }
        for (const each of all) each.process.kill();
        await d.shared.close();
      },
    ),
  );
});
