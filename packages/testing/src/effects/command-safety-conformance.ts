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

/** What an engine is told about a run. */
export interface CommandRun {
  /** True if it runs at a terminal where whoever wrote the command types afterwards. */
  readonly atTerminal: boolean;
}

/** Options of {@link commandSafetyConformance}. */
export interface CommandSafetyOptions {
  /**
   * Whether the engine under test lets a command run without asking. The command runs in the root
   * of a project.
   */
  readonly isSafe: (command: string, run: CommandRun) => boolean | Promise<boolean>;
  /** The world whose copies the commands run in: see {@link makeEffectWorld}. */
  readonly world: EffectWorld;
  /** Environment variables that commands get where the engine is used; none unless given. */
  readonly variables?: Readonly<Record<string, string>>;
  /**
   * Commands in addition to {@link COMMAND_HAZARDS}. Those that cannot run on this host are left
   * out.
   */
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

/**
 * The conformance suite for engines that judge commands: one case for each hazard that can run on
 * this host.
 */
export function commandSafetyConformance(
  options: CommandSafetyOptions,
): readonly ConformanceCase[] {
  return (options.hazards ?? COMMAND_HAZARDS).filter(canRun).map((hazard) => ({
    name: hazardName(hazard),
    run: () => check(hazard, options),
  }));
}
