/**
 * Conformance of an engine that calls shell commands safe: what it calls safe has no effect in a
 * world of traps. Any engine can be put under it.
 */
import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance.js";
import { listEffects } from "./effects.js";
import { COMMAND_HAZARDS, type CommandHazard } from "./hazards.js";
import { isInstalled } from "./needs.js";
import { observeEffects } from "./observe.js";
import type { EffectWorld } from "./world.js";

/** Effects of one class that a failure names. */
const SHOWN_MAX = 3;

/** What an engine may know of a run. */
export interface CommandRun {
  /** It runs at a terminal, and whoever wrote the command types there afterwards. */
  readonly atTerminal: boolean;
}

/** What is put under the suite, and where its commands are run. */
export interface CommandSafetyOptions {
  /**
   * Whether the engine lets a command run without asking anybody. The command runs in the root of a
   * project.
   */
  readonly isSafe: (command: string, run: CommandRun) => boolean | Promise<boolean>;
  /** The world that commands run in copies of. */
  readonly world: EffectWorld;
  /** Variables with which whoever obeys the engine runs a command; none unless given. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Commands besides {@link COMMAND_HAZARDS}; those that cannot run here are left out. */
  readonly hazards?: readonly CommandHazard[];
}

/** Whether the programs of a hazard are on this host. */
export function canRun({ needs }: CommandHazard): boolean {
  return needs.split(" ").every((program) => program === "" || isInstalled(program));
}

/** Its name in a report, and in a list of known faults. */
export function hazardName({ family, command }: CommandHazard): string {
  return `${family}: ${command}`;
}

async function check(
  hazard: CommandHazard,
  { isSafe, world, variables = {} }: CommandSafetyOptions,
): Promise<void> {
  const { stdin } = hazard.options ?? {};
  if (
    !(await isSafe(hazard.command, { atTerminal: typeof stdin === "object" && "typed" in stdin }))
  )
    return;
  const effects = listEffects(
    await observeEffects(hazard.command, world, { ...hazard.options, variables }),
  );
  const classes = [...new Set(effects.map(({ effect }) => effect))];
  const said = classes.flatMap((one) =>
    effects.filter(({ effect }) => effect === one).slice(0, SHOWN_MAX),
  );
  const lines = said.map(({ effect, what }) => `${effect}: ${what}`);
  assert.deepEqual(lines, [], `\`${hazard.command}\` is called safe`);
}

/** The suite: one case a hazard that can run here. */
export function commandSafetyConformance(
  options: CommandSafetyOptions,
): readonly ConformanceCase[] {
  return (options.hazards ?? COMMAND_HAZARDS).filter(canRun).map((hazard) => ({
    name: hazardName(hazard),
    run: () => check(hazard, options),
  }));
}
