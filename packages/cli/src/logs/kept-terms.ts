/**
 * Kept terms: how long the files of a home's logs stay, and how old a file gets before a new one is
 * started, so that the events of a log that never fills one become old, too. Pure.
 */
import type { AuditConfig } from "@acp/home";

/** What is kept, as config.yml says; where it says none of it, what a home has by default. */
export type Retention = Pick<AuditConfig, "keepFiles" | "keepMs" | "keepBytes">;

/** Where nothing is configured. */
export const KEEP_MS: number = 90 * 86_400_000;
/** Where nothing is configured. */
export const KEEP_BYTES: number = 2 * 1024 * 1024 * 1024;
/** Only full files go: one that spans all of that time would keep its first events twice as long. */
const FILES_IN_TIME = 3;

/** What is kept, with the defaults: a number of files alone limits neither age nor size. */
export function keptTerms({ keepFiles = Infinity, ...terms }: Retention): Required<Retention> {
  const isDefault = keepFiles === Infinity;
  const { keepMs = isDefault ? KEEP_MS : Infinity } = terms;
  const { keepBytes = isDefault ? KEEP_BYTES : Infinity } = terms;
  return { keepFiles, keepMs, keepBytes };
}

/** How old the first event of a file gets before it is full; `undefined` for any age. */
export function rotateMsOf({
  rotateMs,
  ...kept
}: Retention & Pick<AuditConfig, "rotateMs">): number | undefined {
  const { keepMs } = keptTerms(kept);
  return rotateMs ?? (keepMs === Infinity ? undefined : keepMs / FILES_IN_TIME);
}
