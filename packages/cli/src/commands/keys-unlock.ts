/**
 * `acp keys passphrase` and `acp keys reset`: what opens the private key, and what to do where
 * nothing opens it any more.
 */
import { readVaultFile, changeUnlock, resetKeys } from "@acp/home";
import type { Home, Reset, Unlock } from "@acp/home";
import type { Invocation, Run } from "../command.js";
import { homeOf } from "../home/home-source.js";
import { keyClock } from "../home/key-clock.js";
import { chooseUnlock, readUnlock } from "../home/unlock.js";
import { lastVaultCounter, noteKeys, noteRotation } from "../logs/vault-log.js";
import { chooseNextUnlock } from "../home/next-unlock.js";

/** Runs `acp keys passphrase`. */
export const keysPassphrase: Run = async (invocation) => {
  const { print, io } = invocation;
  const home = await homeOf(invocation);
  const { "key-file": _next, ...values } = invocation.values;
  // --key-file names what opens it from now on.
  const from = await readUnlock(home, { values, io });
  const { unlock: to, keyFile } = await chooseNextUnlock(home, invocation);
  const clock = keyClock(home, print.notice);
  const publicKey = await changeUnlock(home, { from, to, clock });
  const how = keyFile === undefined ? "a passphrase" : `the key file ${keyFile}`;
  await noteKeys({ home, io }, "keys_unlock_changed", `The private key opens with ${how} now`);
  print.result({ public_key: publicKey, unlock: to.kind, key_file: keyFile }, () => [
    `${print.tone("green", "sealed")}: the private key opens with ${how} from now on; the keys are the same`,
    `Copies of ${home.privateKeyPath} from before still open as they did: if somebody else may have one, run acp keys rotate too`,
  ]);
  return "ok";
};

/** Runs `acp keys reset`. */
export const keysReset: Run = async (invocation) => {
  const { print, io } = invocation;
  const home = await homeOf(invocation);
  const unlock = await newUnlock(home, invocation);
  const clock = keyClock(home, (why) =>
    print.notice(`What the old key signed was not looked up in a log: ${why}`),
  );
  const vaultCounter = async (): Promise<number> => (await lastVaultCounter(home)) + 1;
  const reset = await resetKeys({ home, unlock, vaultCounter, clock });
  const change = { from: reset.previousPublicKey, to: reset.keys.publicKey, isReset: true };
  await noteRotation({ home, io }, change, (await readVaultFile(home, reset.keys)).mark);
  print.result(toJson(reset), () => [
    `${print.tone("green", "made")} ${reset.keys.publicKey}`,
    `${print.tone("dim", "kept")} ${reset.previousPublicKey}, for what it signed until now`,
    ...reset.setAside.map((path) => `${print.tone("yellow", "set aside")} ${path}`),
    "The vault is empty: store its secrets again with acp vault set. Open questions and grants from before are over.",
    ...reset.lostFields.map(
      (field) => `Encrypt it again, the new keys do not open it: acp config encrypt '${field}'`,
    ),
    "Share the output of acp keys export again.",
  ]);
  return "ok";
};

async function newUnlock(home: Home, invocation: Invocation): Promise<Unlock> {
  return (await chooseUnlock(home, invocation)).unlock;
}

function toJson({ keys, previousPublicKey, setAside, lostFields }: Reset): object {
  return {
    public_key: keys.publicKey,
    previous_public_key: previousPublicKey,
    set_aside: setAside,
    lost_fields: lostFields,
  };
}
