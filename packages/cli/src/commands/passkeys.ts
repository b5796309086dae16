/**
 * `acp passkeys list`, `revoke` and `export`: the passkeys of the people whose yes counts here.
 * They are made in the inbox.
 */
import { ConsentError, escapeText, isoTime, systemClock } from "@acp/core";
import { printPasskeys } from "@acp/home";
import type { PasskeyRecord } from "@acp/home";
import type { Run } from "../command.js";
import { homeOf } from "../home/home-source.js";
import { loggedPasskeys } from "../logs/logged-passkeys.js";
import type { Printer } from "../printer.js";

/** Runs `acp passkeys list`. */
export const passkeysList: Run = async (invocation) => {
  const { print } = invocation;
  const passkeys = await loggedPasskeys(await homeOf(invocation), invocation).list();
  print.result({ passkeys: passkeys.map(toJson) }, () =>
    passkeys.length === 0
      ? ["No passkeys yet; make one in the inbox: acp inbox"]
      : passkeys.map((each) => describe(each, print)),
  );
  return "ok";
};

/** Runs `acp passkeys export`. */
export const passkeysExport: Run = async (invocation) => {
  const passkeys = await loggedPasskeys(await homeOf(invocation), invocation).list();
  const text = printPasskeys(passkeys);
  invocation.print.result({ version: "1", passkeys }, () => text.trimEnd().split("\n"));
  return "ok";
};

/**
 * Runs `acp passkeys revoke`: it holds at once, for every gate, also where the log does not take
 * the line about it.
 */
export const passkeysRevoke: Run = async (invocation) => {
  const { operands, print } = invocation;
  const [id] = operands;
  if (id === undefined)
    throw new ConsentError(
      "options_invalid",
      "Cannot revoke: name the passkey, acp passkeys revoke ID",
    );
  const home = await homeOf(invocation);
  const store = loggedPasskeys(home, invocation);
  const passkey = (await store.list()).find(
    (each) => each.id === id && each.revokedAtMs === undefined,
  );
  if (passkey === undefined) {
    print.notice(`There is no passkey ${escapeText(id)} in use; acp passkeys list shows them`);
    return "nothing";
  }
  if (!(await store.revoke(id, passkey.approver, systemClock.now()))) return "nothing";
  print.result({ revoked: id }, () => [`${print.tone("green", "revoked")} ${id}`]);
  return "ok";
};

function toJson({ createdAtMs, revokedAtMs, ...passkey }: PasskeyRecord): object {
  return {
    ...passkey,
    created: isoTime(createdAtMs),
    ...(revokedAtMs !== undefined && { revoked: isoTime(revokedAtMs) }),
  };
}

function describe(
  { id, approver, label, rpId, createdAtMs, revokedAtMs }: PasskeyRecord,
  print: Printer,
): string {
  const state =
    revokedAtMs === undefined
      ? `since ${isoTime(createdAtMs)}`
      : print.tone("yellow", `revoked ${isoTime(revokedAtMs)}`);
  return `${id}  ${escapeText(approver)}  ${escapeText(label)}  for ${escapeText(rpId)}  ${state}`;
}
