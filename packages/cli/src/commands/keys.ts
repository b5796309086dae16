/**
 * `acp keys list`, `rotate`, `repair` and `export`: the keys that sign consents.
 */
import { isoTime } from "@acp/core";
import {
  printPublicKeys,
  readCheckpointKey,
  readPublicKeys,
  readVaultFile,
  repairPeriods,
  rotateKeys,
} from "@acp/home";
import type { KeyPeriod } from "@acp/home";
import { noteSigner } from "@acp/audit";
import { rotateCheckpointKey } from "../logs/checkpoint-seams.js";
import type { Invocation, Run } from "../command.js";
import type { Exit } from "../exit-codes.js";
import { homeOf } from "../home/home-source.js";
import { keyClock, signedOutside } from "../home/key-clock.js";
import { readUnlock } from "../home/unlock.js";
import { readAuditConfig } from "../logs/log-settings.js";
import { openHomeAudit } from "../logs/open-audit.js";
import { noteKeys, noteRotation } from "../logs/vault-log.js";
import { noteNewerStates } from "../rollback/settle-states.js";

/** Runs `acp keys list`. */
export const keysList: Run = async (invocation) => {
  const { print } = invocation;
  const home = await homeOf(invocation);
  const keys = await readPublicKeys(home);
  const signerKey = await readCheckpointKey(home);
  const verifierKey = signerKey === undefined ? undefined : noteSigner(signerKey).verifierKey;
  print.result(
    {
      keys: keys.map(periodJson),
      ...(verifierKey !== undefined && { checkpoint_key: verifierKey }),
    },
    () => [
      ...keys.map(describe),
      ...(verifierKey === undefined ? [] : [`${verifierKey}  signs checkpoints of the audit logs`]),
    ],
  );
  return "ok";
};

function periodJson({ publicKey, fromMs, untilMs }: KeyPeriod): object {
  return {
    public_key: publicKey,
    from: isoTime(fromMs),
    ...(untilMs !== undefined && { until: isoTime(untilMs) }),
  };
}

function describe({ publicKey, fromMs, untilMs }: KeyPeriod): string {
  return `${publicKey}  ${untilMs === undefined ? `in use since ${isoTime(fromMs)}` : `was in use from ${isoTime(fromMs)} until ${isoTime(untilMs)}`}`;
}

/** Runs `acp keys export`. */
export const keysExport: Run = async (invocation) => {
  const keys = await readPublicKeys(await homeOf(invocation));
  invocation.print.result({ keys: keys.map(periodJson) }, () =>
    printPublicKeys(keys).trimEnd().split("\n"),
  );
  return "ok";
};

/** Runs `acp keys repair`. */
export const keysRepair: Run = async (invocation) => {
  const { print } = invocation;
  const home = await homeOf(invocation);
  const unread: string[] = [];
  const signed = await signedOutside(home, { onUnread: (why) => unread.push(why) });
  for (const why of unread) print.notice(why);
  const repaired = await repairPeriods(home, signed);
  print.result({ repaired, signatures: signed.length }, () => [
    repaired
      ? `${print.tone("green", "repaired")}: ${signed.length} signatures are within their key's time now`
      : "Every signature in the logs is within its key's time",
  ]);
  return unread.length === 0 ? "ok" : "audit";
};

/** A clock that is further behind than this was set back. */
const BEHIND_MS = 1_000;

/** Runs `acp keys rotate`. */
export const keysRotate: Run = async (invocation) => {
  if (invocation.flags.has("checkpoint")) return rotateCheckpoint(invocation);
  const { print } = invocation;
  const home = await homeOf(invocation);
  const sayUnread = (why: string): void =>
    print.notice(`What the old key signed was not looked up in a log: ${why}`);
  const clock = keyClock(home, sayUnread);
  const unlock = await readUnlock(home, invocation);
  const { keys, previousPublicKey: from } = await rotateKeys(home, unlock, clock);
  const endMs = await clock.now();
  if (endMs - Date.now() > BEHIND_MS)
    print.notice(
      `The clock is behind the last event of the log: the old key stays trusted until ${isoTime(endMs)}`,
    );
  const { mark } = await readVaultFile(home, keys);
  await noteRotation({ home, io: invocation.io }, { from, to: keys.publicKey }, mark);
  print.result({ public_key: keys.publicKey, previous_public_key: from }, () => [
    `${print.tone("green", "made")} ${keys.publicKey}`,
    `${print.tone("dim", "kept")} ${from}, for what it signed until now`,
    "Running gates use it within a second. Share the output of acp keys export again.",
  ]);
  return "ok";
};

async function rotateCheckpoint(invocation: Invocation): Promise<Exit> {
  const { print, io } = invocation;
  const home = await homeOf(invocation);
  const { from, to } = await rotateCheckpointKey(home, async () => {
    // What the key of before sealed counts from now on because the log notes it.
    await using audit = await openHomeAudit(home, { config: await readAuditConfig({ home, io }) });
    await noteNewerStates(home, (events) => audit.append(events));
  });
  const text = `Checkpoints of the logs are signed by ${to} from now on, no longer by ${from}`;
  await noteKeys({ home, io }, "checkpoint_key_rotated", text);
  print.result({ checkpoint_key: to, previous_checkpoint_key: from }, () => [
    `${print.tone("green", "made")} ${to}`,
    `${print.tone("dim", "kept")} ${from}, for the checkpoints that it signed`,
    "Running gates sign their next checkpoint with it. Give the new key to whoever checks your checkpoints.",
  ]);
  return "ok";
}
