import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isDeep } from "../../../../tools/deep.js";
import { canRun, commandSafetyConformance, hazardName } from "./command-safety-conformance.js";
import { COMMAND_HAZARDS } from "./hazards.js";
import { effectsNeed } from "./needs.js";
import { makeEffectWorld, type EffectWorld } from "./world.js";

const need = effectsNeed();
const RUNNABLE = COMMAND_HAZARDS.filter(canRun);
/** Each has its turn in the deep lane. */
const TRIED = isDeep ? RUNNABLE : RUNNABLE.slice(0, 3);

describe.skipIf(!need.run)(
  `commandSafetyConformance()${need.run ? "" : ` (skipped: ${need.reason})`}`,
  () => {
    let world: EffectWorld;
    beforeAll(async () => {
      world = await makeEffectWorld();
    });
    afterAll(() => world[Symbol.asyncDispose]());

    it.each(TRIED.map((hazard) => [hazardName(hazard), hazard] as const))(
      "fails an engine that says yes to everything, at %s",
      async (_name, hazard) => {
        const [only, ...others] = commandSafetyConformance({
          isSafe: () => true,
          world,
          hazards: [hazard],
        });
        expect(others).toEqual([]);
        await expect(only?.run()).rejects.toThrow(
          new RegExp(`is called safe[^]*'${hazard.effect}: `),
        );
      },
    );

    it("passes an engine that says yes to nothing", async () => {
      for (const { run } of commandSafetyConformance({ isSafe: () => false, world })) await run();
    });

    it("passes a yes to what has no effect with the variables that it runs with", async () => {
      const hazards = COMMAND_HAZARDS.filter(({ command }) => command === "git -C evil.git status");
      const bare = {
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: "safe.bareRepository",
        GIT_CONFIG_VALUE_0: "explicit",
      };
      const cases = commandSafetyConformance({
        isSafe: async () => true,
        world,
        hazards,
        variables: bare,
      });
      expect(cases).toHaveLength(1);
      for (const { run } of cases) await run();
    });
  },
);
