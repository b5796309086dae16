/**
 * The verifier of passkey proofs: for a gate, and for whoever checks a record later, offline.
 * Format: spec/proof.md §3. It trusts the passkeys that it is given and nothing of the message but
 * who signed.
 */
import type { EvidenceResult, EvidenceVerifier, JsonObject } from "@acp/core";
import { isSamePerson, parseIsoTime, readFields } from "@acp/core";
import { consentPayload, type PayloadVersion, readPayloadVersion } from "@acp/core/proof";
import type { Passkey, PasskeySignature } from "./passkey.js";
import { assertionProblem } from "./passkey-assertion.js";

/** Options of {@link createPasskeyVerifier}. */
export interface PasskeyVerifierOptions {
  /**
   * Returns the passkeys of all people; called for each proof, so that a revocation takes effect at
   * once.
   */
  readonly passkeys: () => Promise<readonly Passkey[]> | readonly Passkey[];
}

interface ReadProof {
  readonly version: PayloadVersion;
  readonly signed: PasskeySignature;
  readonly payloadHash: string;
  readonly requestHash: string;
}

const no = (reason: string): EvidenceResult => ({ ok: false, reason });

function readProof(response: JsonObject): ReadProof {
  const fields = readFields(response["proof"], "proof");
  fields.oneOf("algorithm", ["WebAuthn"] as const);
  const read: ReadProof = {
    version: readPayloadVersion(fields),
    signed: {
      credential_id: fields.text("credential_id"),
      authenticator_data: fields.text("authenticator_data"),
      client_data_json: fields.text("client_data_json"),
      signature: fields.text("signature"),
    },
    payloadHash: fields.text("signed_payload_hash"),
    requestHash: fields.text("request_hash"),
  };
  fields.done();
  return read;
}

/** Who answered, and when, as the answer says it: both are part of what is signed. */
function readAnswer(response: JsonObject): {
  readonly approverId: string;
  readonly givenAtMs: number | undefined;
} {
  const fields = readFields(response, "consent_response");
  return {
    approverId: fields.object("approver").text("id"),
    givenAtMs: parseIsoTime(fields.text("timestamp")),
  };
}

async function judge(
  response: JsonObject,
  request: JsonObject,
  { passkeys, reuse }: { readonly passkeys: readonly Passkey[]; readonly reuse: boolean },
): Promise<EvidenceResult> {
  const { version, signed, payloadHash, requestHash } = readProof(response);
  const { approverId, givenAtMs } = readAnswer(response);
  const payload = consentPayload(response, request, version);
  if (payloadHash !== payload.hash)
    return no("the response or the request is not the one that was signed");
  if (requestHash !== payload.requestHash)
    return no("the request is not the one that was answered");
  const passkey = passkeys.find(
    ({ id, approver }) => id === signed.credential_id && isSamePerson(approver, approverId),
  );
  if (passkey === undefined) return no("it is not one of this person's passkeys");
  const { createdAtMs, revokedAtMs } = passkey;
  if (givenAtMs === undefined || givenAtMs < createdAtMs)
    return no("the passkey did not exist then");
  // What it signed before is evidence that a consent was given, and no consent to anything that
  // happens now.
  if (revokedAtMs !== undefined && (reuse || givenAtMs >= revokedAtMs))
    return no("the passkey was revoked");
  const challenge = Buffer.from(payload.hash.replace(/^sha256:/, ""), "hex").toString("base64url");
  const problem = await assertionProblem(signed, { passkey, challenge });
  return problem === undefined ? { ok: true } : no(problem);
}

/**
 * Makes a verifier of passkey proofs (WebAuthn) for `createConsentGate({ verifiers })`,
 * `verifyConsentProof` and `verifyConsentRecord`.
 *
 * @example
 * ```ts
 * import { createPasskeyVerifier } from "@acp/channel-web";
 * import { createConsentGate } from "@acp/core";
 *
 * const passkey = createPasskeyVerifier({ passkeys: () => passkeys.list() });
 * const gate = createConsentGate({ policy, channel, audit, verifiers: [passkey] });
 * ```
 */
export function createPasskeyVerifier({ passkeys }: PasskeyVerifierOptions): EvidenceVerifier {
  return {
    algorithm: "WebAuthn",
    // oxlint-disable-next-line max-params -- the port's call, with its optional last one
    async verify(response, request, _keys, use) {
      try {
        return await judge(response, request, {
          passkeys: await passkeys(),
          reuse: use?.reuse === true,
        });
      } catch (error) {
        return no(error instanceof Error ? error.message : "the proof cannot be read");
      }
    },
  };
}
