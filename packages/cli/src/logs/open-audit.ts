/**
 * Opening an audit log for this process: the first log of the home that no live gate writes.
 * docs/adr/0040-one-audit-chain-a-gate.md says why.
 */
import { basename, join } from "node:path";
import { noteSigner, openAuditLog } from "@acp/audit";
import type { AuditLogOptions, CheckpointOptions, RecoverOptions } from "@acp/audit";
import { ConsentError, isConsentError, systemClock } from "@acp/core";
import { DEFAULT_AUDIT_CONFIG, readCheckpointKey } from "@acp/home";
import type { AuditConfig, HomePaths } from "@acp/home";
import { auditFileNames } from "./log-files.js";
import { followCheckpointKey, originOf } from "./checkpoint-key.js";
import { keysOf, readKeySeams } from "./checkpoint-seams.js";
import { rotateMsOf } from "./kept-terms.js";
import { indexKeyFrom } from "./index-key.js";
import { refuseLatched, withLatch } from "./log-latch.js";
import type { LatchedLog } from "./log-latch.js";
import { countSeams } from "./log-seams.js";
import { makeWitnesses } from "./witnesses.js";

/** Where nothing is configured: a file that an editor still opens; some 100,000 events. */
const ROTATE_BYTES: number = 64 * 1024 * 1024;

/** How the logs of a home are opened. */
export interface AuditSettings {
  /** The section `audit` of the configuration. */
  readonly config?: AuditConfig | undefined;
  readonly recover?: RecoverOptions;
}

/**
 * What each log of a home is opened with: its file, and what the configuration and the home's
 * checkpoint key say.
 */
export async function auditLogOptions(
  home: HomePaths,
  settings: AuditSettings,
): Promise<(path: string) => AuditLogOptions> {
  const { config = DEFAULT_AUDIT_CONFIG, recover } = settings;
  const signerKey = await readCheckpointKey(home);
  const keySeams = signerKey === undefined ? [] : await readKeySeams(home);
  const seams = await countSeams(home.dir);
  const { rotateBytes: maxBytes = ROTATE_BYTES } = config;
  const maxAgeMs = rotateMsOf(config);
  const rotation = { maxBytes, ...(maxAgeMs !== undefined && { maxAgeMs }) };
  return (path) => ({
    path,
    rotation,
    ...(signerKey !== undefined && {
      checkpoints: checkpointOptions(
        { signerKey, now: followCheckpointKey(home, signerKey), keySeams },
        config,
        originAt(signerKey, path, seams),
      ),
      indexKey: indexKeyFrom(signerKey),
    }),
    ...(recover !== undefined && { recover }),
  });
}

function originAt(signerKey: string, path: string, seams: ReadonlyMap<string, number>): string {
  return originOf(noteSigner(signerKey).name, path, seams.get(basename(path)));
}

interface SignedBy {
  /** At the start. */
  readonly signerKey: string;
  now(): string;
  readonly keySeams: readonly string[];
}

function checkpointOptions(
  { signerKey, now, keySeams }: SignedBy,
  config: AuditConfig,
  origin: string,
): CheckpointOptions {
  const { checkpointEvents: everyEvents, checkpointMs: everyMs, witnesses } = config;
  const { verifierKey } = noteSigner(signerKey);
  return {
    signerKey: now,
    formerKeys: keysOf(verifierKey, keySeams).slice(1),
    origin,
    witnesses: makeWitnesses(witnesses, origin),
    ...(everyEvents !== undefined && { everyEvents }),
    ...(everyMs !== undefined && { everyMs }),
  };
}

/**
 * Opens the first free log of the home, signed where the home has a checkpoint key.
 *
 * @throws ConsentError `audit_failed` where a log cannot be opened for another reason than a live
 *   writer, `audit_busy` where every log has one.
 */
export async function openHomeAudit(
  home: HomePaths,
  settings: AuditSettings = {},
): Promise<LatchedLog> {
  const optionsOf = await auditLogOptions(home, settings);
  for (const name of auditFileNames()) {
    const path = join(home.dir, name);
    await refuseLatched(path);
    try {
      return withLatch(await openAuditLog(optionsOf(path)), () => systemClock.now());
    } catch (error) {
      // Only a live writer is stepped around; a log that is broken must be seen.
      if (!isConsentError(error, "audit_busy")) throw error;
    }
  }
  throw new ConsentError(
    "audit_busy",
    `Cannot open an audit log in "${home.dir}": ${auditFileNames().length} gates write there already; end one, or use another --home`,
  );
}
