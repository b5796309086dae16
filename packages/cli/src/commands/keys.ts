/**
 * `acp keys list`, `rotate` and `export`: the keys that sign consents.
 */
import { isoTime } from "@acp/core";
import { printPublicKeys, readPublicKeys, readVaultFile, rotateKeys } from "@acp/home";
import type { KeyPeriod } from "@acp/home";
import { noteSigner } from "@acp/audit";
import { readCheckpointKey } from "../logs/checkpoint-key.js";
import type { Run } from "../command.js";
import { homeOf } from "../home/home-source.js";
import { readUnlock } from "../home/unlock.js";
import { noteRotation } from "../logs/vault-log.js";

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

/** Runs `acp keys rotate`. */
export const keysRotate: Run = async (invocation) => {
  const { print } = invocation;
  const home = await homeOf(invocation);
  const { keys, previousPublicKey: from } = await rotateKeys(
    home,
    await readUnlock(home, invocation),
  );
  const { mark } = await readVaultFile(home, keys);
  await noteRotation({ home, io: invocation.io }, { from, to: keys.publicKey }, mark);
  print.result({ public_key: keys.publicKey, previous_public_key: from }, () => [
    `${print.tone("green", "made")} ${keys.publicKey}`,
    `${print.tone("dim", "kept")} ${from}, for what it signed until now`,
    "Restart running gates: until then they deny every call. Share the output of acp keys export again.",
  ]);
  return "ok";
};
