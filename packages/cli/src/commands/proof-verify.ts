/**
 * `acp proof verify`: whether a record proves what it says. Needs a public key and nothing else.
 */
import { ConsentError, escapeText, isoTime } from "@acp/core";
import { verifyConsentRecord } from "@acp/core/proof";
import type { ProvenRecord } from "@acp/core/proof";
import type { Run } from "../command.js";
import { readInput } from "../input.js";
import { passkeyVerifier, readTrustedPasskeys } from "../gate/passkeys.js";
import type { Printer } from "../printer.js";
import { readTime } from "../times.js";
import { readTrustedKeys } from "../home/trusted-keys.js";

/** A request of 1 MiB, and many answers. */
const RECORD_BYTES_MAX: number = 8 * 1024 * 1024;

/** Runs the command. */
export const proofVerify: Run = async (invocation) => {
  const { operands, values, io, print } = invocation;
  const [operand] = operands;
  if (operand === undefined)
    throw new ConsentError(
      "options_invalid",
      "Cannot verify a proof: name the record, acp proof verify FILE",
    );
  const record = await readInput(operand, io, { what: "record", bytesMax: RECORD_BYTES_MAX });
  // Whoever brings the passkeys needs no key, and no home.
  const trustedKeys =
    values.passkeys !== undefined && values.key === undefined
      ? []
      : await readTrustedKeys(invocation);
  const passkeys = await readTrustedPasskeys(invocation);
  const now = values.at === undefined ? undefined : readTime(values.at, "at", Date.now());
  const result = await verifyConsentRecord(record, {
    trustedKeys,
    verifiers: [passkeyVerifier(async () => passkeys)],
    ...(now !== undefined && { now }),
  });
  if (!result.ok) {
    print.result(result, () => [
      `${print.tone("red", "not proven")}: ${escapeText(result.message)} [${result.code}]`,
    ]);
    if (result.code === "key_not_valid" && values.key === undefined)
      print.notice("If the clock was wrong when the key was made or rotated, run acp keys repair");
    return "unproven";
  }
  const expired = Date.now() >= result.validUntilMs;
  print.result(toJson(result, expired), () => describe(result, expired, print));
  return "ok";
};

function toJson(result: ProvenRecord, expired: boolean): object {
  const { requestId, decision, consents, atMs, validUntilMs } = result;
  return {
    ok: true,
    request_id: requestId,
    decision,
    at: isoTime(atMs),
    valid_until: isoTime(validUntilMs),
    expired_since: expired,
    consents: consents.map(({ approverId, channel, publicKey, givenAtMs }) => ({
      approver: approverId,
      channel,
      public_key: publicKey,
      given_at: isoTime(givenAtMs),
    })),
  };
}

function describe(
  { requestId, decision, consents, atMs, validUntilMs }: ProvenRecord,
  expired: boolean,
  print: Printer,
): readonly string[] {
  return [
    `${print.tone("green", "proven")}: ${decision} ${requestId}, valid at ${isoTime(atMs)}`,
    ...consents.map(
      ({ approverId, channel, givenAtMs, publicKey }) =>
        `  by ${escapeText(approverId)} (${escapeText(channel)}) at ${isoTime(givenAtMs)}${publicKey === undefined ? "" : `, key ${publicKey}`}`,
    ),
    expired
      ? `  ${print.tone("yellow", "expired since")}: it was valid until ${isoTime(validUntilMs)}`
      : `  valid until ${isoTime(validUntilMs)}`,
  ];
}
