/**
 * Our engine under the suite that any engine can go under: what it calls safe of the commands that
 * only look harmless has no effect.
 */
import {
  COMMAND_HAZARDS,
  commandSafetyConformance,
  type CommandRun,
  effectsNeed,
  type EffectWorld,
  makeEffectWorld,
} from "@acp/testing";
import { afterAll, beforeAll, describe, it } from "vitest";
import { evaluateCommandSafety } from "../src/evaluate.js";

const need = effectsNeed();
const isSafe = (command: string, { atTerminal }: CommandRun): boolean =>
  evaluateCommandSafety(command, { atTerminal }).riskLevel === "safe";

describe.skipIf(!need.run)(
  `evaluateCommandSafety() under commandSafetyConformance()${need.run ? "" : ` (skipped: ${need.reason})`}`,
  () => {
    let world: EffectWorld;
    beforeAll(async () => {
      world = await makeEffectWorld();
    });
    afterAll(() => world[Symbol.asyncDispose]());

    it.each(COMMAND_HAZARDS.map((hazard) => [hazard.command, hazard] as const))(
      "has no yes to `%s`",
      async (_command, hazard) => {
        for (const { run } of commandSafetyConformance({ isSafe, world, hazards: [hazard] }))
          await run();
      },
    );
  },
);
