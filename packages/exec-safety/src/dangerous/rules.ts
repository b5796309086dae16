/**
 * Rules: every class of danger, found by the name of the program.
 */
import { DELETE_RULES } from "./rules/delete.js";
import { DISK_RULES } from "./rules/disk.js";
import { MACHINE_RULES } from "./rules/machine.js";
import { PERMISSION_RULES } from "./rules/permissions.js";
import { REMOTE_RULES } from "./rules/remote.js";
import * as shapes from "./rules/shapes.js";
import { SYSTEM_RULES } from "./rules/system.js";
import { TARGETS } from "./rules/targets.js";
import type { Danger, ProgramRule } from "./rule.js";

const PROGRAM_RULES: readonly ProgramRule[] = [
  ...DELETE_RULES,
  ...DISK_RULES,
  ...PERMISSION_RULES,
  ...SYSTEM_RULES,
  ...MACHINE_RULES,
  ...REMOTE_RULES,
];

/** Every class, for tests and for the documentation. */
export const DANGERS: readonly Danger[] = [...PROGRAM_RULES, ...TARGETS, ...Object.values(shapes)];

const BY_PROGRAM: ReadonlyMap<string, readonly ProgramRule[]> = PROGRAM_RULES.reduce(
  (index, rule) => {
    for (const program of rule.programs) index.set(program, [...(index.get(program) ?? []), rule]);
    return index;
  },
  new Map<string, readonly ProgramRule[]>(),
);

const NONE: readonly ProgramRule[] = [];

/** The rules about a program. */
export function rulesOf(name: string): readonly ProgramRule[] {
  return (
    BY_PROGRAM.get(name) ?? (name.startsWith("mkfs.") ? BY_PROGRAM.get("mkfs") : undefined) ?? NONE
  );
}
