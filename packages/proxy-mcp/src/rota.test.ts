import fc from "fast-check";
import { expect, it } from "vitest";
import { createRota } from "./rota.js";

it("createRota() gives one of each owner in turn, and each owner's own in their order", () => {
  const steps = fc.array(fc.constantFrom("a", "b", "c", "next"), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (all) => {
      const rota = createRota<readonly [string, number]>();
      const puts = new Map(["a", "b", "c"].map((name) => [name, rota.owner()]));
      const waiting = new Map<string, number[]>();
      // How often others were served since an owner began to wait.
      const passed = new Map<string, Map<string, number>>();
      for (const [at, step] of all.entries()) {
        if (step !== "next") {
          puts.get(step)?.([step, at]);
          if ((waiting.get(step) ?? []).length === 0) passed.set(step, new Map());
          waiting.set(step, [...(waiting.get(step) ?? []), at]);
          continue;
        }
        const [name, item] = rota.next() ?? [];
        if (name === undefined) {
          expect([...waiting.values()].flat()).toEqual([]);
          continue;
        }
        expect(item).toBe(waiting.get(name)?.shift());
        for (const [other, counts] of passed) {
          if (other === name) counts.clear();
          else counts.set(name, (counts.get(name) ?? 0) + 1);
          if ((waiting.get(other) ?? []).length > 0 && other !== name)
            expect(counts.get(name)).toBeLessThanOrEqual(1);
        }
      }
    }),
    { examples: [[["a", "a", "b", "next", "next", "next"]]] },
  );
});
