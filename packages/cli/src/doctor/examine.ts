/**
 * Examine: looks at everything, one examination after another, and changes nothing. One that cannot
 * look is a finding itself: what was not seen is never taken for well.
 */
import { asError } from "@acp/core";
import type { Level } from "./code-row.js";
import type { DoctorContext } from "./context.js";
import type { FindingCode } from "./codes.js";
import type { Examination } from "./examination.js";
import { makeFound, worstOf } from "./finding.js";
import type { Found } from "./finding.js";
import { channelsExamination } from "./look/channels.js";
import { clockExamination } from "./look/clock.js";
import { configExamination } from "./look/config.js";
import { diskExamination } from "./look/disk.js";
import { filesExamination } from "./look/files.js";
import { homeExamination } from "./look/home.js";
import { keysExamination } from "./look/keys.js";
import { logsExamination } from "./look/logs.js";
import { rolledBackExamination } from "./look/rolled-back.js";
import { sandboxExamination, versionsExamination } from "./look/machine.js";
import { toolPinsExamination } from "./look/tool-pins.js";
import { passkeysExamination } from "./look/passkeys.js";
import { portsExamination } from "./look/ports.js";
import { socketsExamination } from "./look/sockets.js";
import { storesExamination } from "./look/stores.js";
import { vaultExamination } from "./look/vault.js";

/** Every examination, in the order of the report. */
export const EXAMINATIONS: readonly Examination[] = [
  homeExamination,
  filesExamination,
  diskExamination,
  clockExamination,
  configExamination,
  keysExamination,
  vaultExamination,
  logsExamination,
  passkeysExamination,
  toolPinsExamination,
  storesExamination,
  rolledBackExamination,
  socketsExamination,
  portsExamination,
  channelsExamination,
  sandboxExamination,
  versionsExamination,
];

/** What one examination found. */
export interface Examined {
  readonly id: string;
  readonly looksAt: string;
  /** The worst of its findings; `skipped`: it could not look. */
  readonly level: Level | "skipped";
  readonly found: readonly Found[];
  /** What is so and not wrong; left out where there is nothing to say. */
  readonly notes?: readonly string[];
}

/** With one of these there is no home to look into. */
const NO_HOME: ReadonlySet<FindingCode> = new Set<FindingCode>([
  "home_missing",
  "home_half_moved",
  "home_foreign",
  "home_unreadable",
  "home_link",
  "home_not_directory",
]);
/** These need no home. */
const WITHOUT_HOME: ReadonlySet<string> = new Set(["home", "sandbox", "versions"]);

/** Looks at everything. */
export async function examine(
  context: DoctorContext,
  examinations: readonly Examination[] = EXAMINATIONS,
): Promise<readonly Examined[]> {
  const all: Examined[] = [];
  let isThere = true;
  for (const examination of examinations) {
    const { id, looksAt } = examination;
    if (!isThere && !WITHOUT_HOME.has(id)) {
      all.push({ id, looksAt, level: "skipped", found: [] });
      continue;
    }
    const found = await lookSafely(examination, context);
    isThere &&= !found.some(({ finding }) => NO_HOME.has(finding.code));
    // What keeps them from being told is a finding already.
    const notes = (await examination.tell?.(context).catch(() => [])) ?? [];
    const level = worstOf(found.map(({ finding }) => finding.level));
    all.push({ id, looksAt, level, found, ...(notes.length > 0 && { notes }) });
  }
  return all;
}

async function lookSafely(
  { id, look }: Examination,
  context: DoctorContext,
): Promise<readonly Found[]> {
  try {
    return await look(context);
  } catch (error) {
    const found = `The examination "${id}" could not look: ${asError(error).message}`;
    return [makeFound("examination_failed", { path: context.home.dir, found })];
  }
}

/** Whether there is no error. */
export function isWell(all: readonly Examined[]): boolean {
  return all.every(({ level }) => level !== "error" && level !== "skipped");
}
