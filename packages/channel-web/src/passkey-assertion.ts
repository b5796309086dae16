/**
 * An assertion of a passkey: whether one of these passkeys signed this challenge, at an origin that
 * it was made for, with its person present and verified. The cryptography is
 * @simplewebauthn/server's; what it leaves open is decided here. Source: WebAuthn Level 3 §7.2.
 */
import { verifyAuthenticationResponse } from "@simplewebauthn/server";
import type { Passkey, PasskeySignature } from "./passkey.js";
import { isPasskeyOrigin } from "./passkey-origin.js";

/** Why an assertion proves nothing; `undefined` where it holds. */
export type AssertionProblem = string | undefined;

const BASE64URL = /^[A-Za-z0-9_-]+$/;

/** The bytes of base64url text in its one spelling, or `undefined`. */
export function readBase64url(text: string): Buffer | undefined {
  if (!BASE64URL.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : undefined;
}

/** A page of somebody else's that holds ours in a frame must not collect signatures. */
function isFramed(clientData: Buffer): boolean {
  const data: unknown = JSON.parse(clientData.toString("utf8"));
  if (typeof data !== "object" || data === null) return true;
  return ("crossOrigin" in data && data.crossOrigin !== false) || "topOrigin" in data;
}

/** Where the browser says that it was made. */
function originIn(clientData: Buffer): string {
  const data: unknown = JSON.parse(clientData.toString("utf8"));
  return typeof data === "object" &&
    data !== null &&
    "origin" in data &&
    typeof data.origin === "string"
    ? data.origin
    : "";
}

/** What an assertion is held against. */
export interface AssertionTerms {
  readonly passkey: Passkey;
  /** 32 bytes as base64url. */
  readonly challenge: string;
  /**
   * The one origin that counts; left out where it is checked later, and any of the passkey's does.
   */
  readonly origin?: string;
}

/**
 * Checks one assertion by one passkey.
 */
export async function assertionProblem(
  signed: PasskeySignature,
  { passkey, challenge, origin }: AssertionTerms,
): Promise<AssertionProblem> {
  const { credential_id: id, authenticator_data, client_data_json, signature } = signed;
  if (id !== passkey.id) return "it is another passkey's";
  const [publicKey, clientData] = [passkey.publicKey, client_data_json].map(readBase64url);
  if (
    publicKey === undefined ||
    clientData === undefined ||
    [authenticator_data, signature].some((each) => readBase64url(each) === undefined)
  )
    return "a field is not base64url";
  try {
    if (isFramed(clientData)) return "it was made in an embedded page";
    const made = originIn(clientData);
    if ((origin !== undefined && made !== origin) || !isPasskeyOrigin(passkey, made))
      return "it was made at another origin";
    const { verified } = await verifyAuthenticationResponse({
      response: {
        id,
        rawId: id,
        type: "public-key",
        clientExtensionResults: {},
        response: {
          authenticatorData: authenticator_data,
          clientDataJSON: client_data_json,
          signature,
        },
      },
      expectedChallenge: challenge,
      expectedOrigin: made,
      expectedRPID: passkey.rpId,
      expectedType: "webauthn.get",
      requireUserVerification: true,
      // Counters say nothing of passkeys that are synchronised: what serves once is the challenge.
      credential: { id, publicKey: new Uint8Array(publicKey), counter: 0 },
    });
    const isGood: unknown = verified;
    return isGood === true ? undefined : "the signature is not the passkey's";
  } catch (error) {
    return error instanceof Error ? error.message : "it cannot be read";
  }
}
