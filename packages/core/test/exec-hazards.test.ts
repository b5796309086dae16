/** Our engine under the suite that any engine can go under: what it calls safe of the commands that only look harmless has no effect. */
import { COMMAND_HAZARDS, commandSafetyConformance, effectsNeed, type EffectWorld, makeEffectWorld } from "@acp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isDeep } from "../../../tools/deep.js";
import { evaluateCommandSafety } from "../src/exec/evaluate.js";

const need = effectsNeed();
const isSafe = (command: string): boolean => evaluateCommandSafety(command).riskLevel === "safe";

/** Called safe and not: whoever mends one deletes it here. */
const KNOWN_FAULTS: ReadonlySet<string> = new Set(["git log"]);

describe.skipIf(!need.run)(
  `evaluateCommandSafety() under commandSafetyConformance()${need.run ? "" : ` (skipped: ${need.reason})`}`,
  () => {
    let world: EffectWorld;
    beforeAll(async () => {
      world = await makeEffectWorld();
    });
    afterAll(() => world[Symbol.asyncDispose]());

    const hazards = COMMAND_HAZARDS.filter(({ command }) => !KNOWN_FAULTS.has(command));
    it.each(hazards.map((hazard) => [hazard.command, hazard] as const))("has no yes to `%s`", async (_command, hazard) => {
      for (const { run } of commandSafetyConformance({ isSafe, world, hazards: [hazard] })) await run();
    });
  },
);

if (isDeep) describeKnown();

function describeKnown(): void {
  describe("known faults of evaluateCommandSafety()", () => {
    it.each([...KNOWN_FAULTS])("`%s` is still called safe; delete it from the known ones where it is not", (command) => {
      expect(isSafe(command)).toBe(true);
    });
  });
}
