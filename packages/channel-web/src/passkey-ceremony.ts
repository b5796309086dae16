/**
 * Passkey ceremonies of one origin: what an authenticator is asked for, and whether what it gave
 * holds. Without a memory of its own. Source: WebAuthn Level 3 §7.1 and §7.2.
 */
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";
import type { RegistrationResponseJSON } from "@simplewebauthn/server";
import { isJsonObject, type JsonObject } from "@acp/core";
import type { PasskeyCeremony, PasskeySignature } from "./passkey.js";
import { assertionProblem, readBase64url } from "./passkey-assertion.js";

/** COSE numbers of ES256, EdDSA and RS256. */
const ALGORITHMS = [-7, -8, -257];
const RP_NAME = "ACP approval inbox";
/** How long the browser's dialogue may stay open. */
const TIMEOUT_MS = 120_000;

const asJson = (options: object): JsonObject => {
  const copy: unknown = JSON.parse(JSON.stringify(options));
  return isJsonObject(copy) ? copy : {};
};

const challengeBytes = (challenge: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(readBase64url(challenge) ?? []);
const textOf = (object: JsonObject, key: string): string => {
  const value = object[key];
  return typeof value === "string" ? value : "";
};

/**
 * The four fields of an assertion that count; the rest of what a browser sends is not looked at.
 */
function readSignature(assertion: JsonObject): PasskeySignature {
  const given = assertion["response"];
  const response = isJsonObject(given) ? given : {};
  return {
    credential_id: textOf(assertion, "id"),
    authenticator_data: textOf(response, "authenticatorData"),
    client_data_json: textOf(response, "clientDataJSON"),
    signature: textOf(response, "signature"),
  };
}

/** A registration as the library reads it; what is not of the right type it refuses itself. */
function readRegistration(registration: JsonObject): RegistrationResponseJSON {
  const given = registration["response"];
  const response = isJsonObject(given) ? given : {};
  return {
    id: textOf(registration, "id"),
    rawId: textOf(registration, "rawId"),
    type: "public-key",
    clientExtensionResults: {},
    response: {
      attestationObject: textOf(response, "attestationObject"),
      clientDataJSON: textOf(response, "clientDataJSON"),
    },
  };
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : "it cannot be read";

/** Where passkeys are made and asked for. */
export interface CeremonyPlace {
  readonly origin: string;
  readonly rpId: string;
}

/**
 * WebAuthn for one origin.
 *
 * @param place - The origin where all of it happens, such as `http://x7f2.k3v9.localhost:8789`, and
 *   the RP ID.
 */
export function createPasskeyCeremony({ origin, rpId: rpID }: CeremonyPlace): PasskeyCeremony {
  return {
    async makeRegistrationOptions({ approver, challenge, known }) {
      const options = await generateRegistrationOptions({
        rpName: RP_NAME,
        rpID,
        userName: approver,
        userID: new TextEncoder().encode(approver).slice(0, 64),
        challenge: challengeBytes(challenge),
        timeout: TIMEOUT_MS,
        attestationType: "none",
        excludeCredentials: known.map(({ id }) => ({ id })),
        authenticatorSelection: { residentKey: "preferred", userVerification: "required" },
        supportedAlgorithmIDs: ALGORITHMS,
      });
      return asJson(options);
    },
    async checkRegistration({ registration, challenge }) {
      try {
        const { verified, registrationInfo } = await verifyRegistrationResponse({
          response: readRegistration(registration),
          expectedChallenge: challenge,
          expectedOrigin: origin,
          expectedRPID: rpID,
          requireUserVerification: true,
          supportedAlgorithmIDs: ALGORITHMS,
        });
        const isGood: unknown = verified;
        if (isGood !== true || registrationInfo === undefined)
          return { ok: false, reason: "the authenticator's answer does not hold" };
        const { id, publicKey } = registrationInfo.credential;
        return { ok: true, id, publicKey: Buffer.from(publicKey).toString("base64url") };
      } catch (error) {
        return { ok: false, reason: messageOf(error) };
      }
    },
    async makeAssertionOptions({ challenge, allowed }) {
      const options = await generateAuthenticationOptions({
        rpID,
        challenge: challengeBytes(challenge),
        timeout: TIMEOUT_MS,
        allowCredentials: allowed.map(({ id }) => ({ id })),
        userVerification: "required",
      });
      return asJson(options);
    },
    async checkAssertion({ assertion, challenge, passkeys }) {
      const signed = readSignature(assertion);
      const passkey = passkeys.find(({ id }) => id === signed.credential_id);
      if (passkey === undefined)
        return { ok: false, reason: "it is not one of the passkeys that count here" };
      const problem = await assertionProblem(signed, { passkey, challenge, origin });
      return problem === undefined ? { ok: true, passkey, signed } : { ok: false, reason: problem };
    },
  };
}
