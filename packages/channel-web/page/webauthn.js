/**
 * Webauthn: the browser's passkeys, with the JSON forms of WebAuthn level 3 written out: not every
 * phone's browser has them.
 */

/** @typedef {import("./types.js").RequestOptions} RequestOptions */
/** @typedef {import("./types.js").CreationOptions} CreationOptions */
/** @typedef {import("./types.js").Descriptor} Descriptor */

export const hasPasskeys = () => "credentials" in navigator && "PublicKeyCredential" in window;

/** @param {ArrayBuffer | null} buffer */
function toBase64url(buffer) {
  const binary = Array.from(new Uint8Array(buffer ?? new ArrayBuffer(0)), (byte) =>
    String.fromCharCode(byte),
  ).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {string} text */
const fromBase64url = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) =>
    char.charCodeAt(0),
  );

/** @param {readonly Descriptor[]} list */
const descriptors = (list) =>
  list.map(({ id, type, transports }) => ({
    id: fromBase64url(id),
    type,
    ...(transports === undefined ? {} : { transports: [...transports] }),
  }));

/** @param {Credential | null} credential */
function publicKey(credential) {
  if (!(credential instanceof PublicKeyCredential)) throw new Error("the browser gave no passkey");
  return credential;
}

/** @param {PublicKeyCredential} credential */
const common = ({ id, rawId, type, authenticatorAttachment }) => ({
  id,
  rawId: toBase64url(rawId),
  type,
  clientExtensionResults: {},
  ...(authenticatorAttachment === null ? {} : { authenticatorAttachment }),
});

/**
 * Lets the person sign a challenge.
 *
 * @param {RequestOptions} options
 */
export async function sign({ challenge, allowCredentials = [], rpId, timeout, userVerification }) {
  const credential = publicKey(
    await navigator.credentials.get({
      publicKey: {
        challenge: fromBase64url(challenge),
        allowCredentials: descriptors(allowCredentials),
        userVerification: userVerification ?? "required",
        ...(rpId === undefined ? {} : { rpId }),
        ...(timeout === undefined ? {} : { timeout }),
      },
    }),
  );
  const { response } = credential;
  if (!(response instanceof AuthenticatorAssertionResponse))
    throw new Error("the browser gave no assertion");
  return {
    ...common(credential),
    response: {
      clientDataJSON: toBase64url(response.clientDataJSON),
      authenticatorData: toBase64url(response.authenticatorData),
      signature: toBase64url(response.signature),
      ...(response.userHandle === null ? {} : { userHandle: toBase64url(response.userHandle) }),
    },
  };
}

/**
 * Makes a new passkey.
 *
 * @param {CreationOptions} options
 */
export async function create({
  challenge,
  user,
  excludeCredentials = [],
  rp,
  pubKeyCredParams,
  ...more
}) {
  const credential = publicKey(
    await navigator.credentials.create({
      publicKey: {
        rp: { ...rp },
        challenge: fromBase64url(challenge),
        user: { ...user, id: fromBase64url(user.id) },
        pubKeyCredParams: [...pubKeyCredParams],
        excludeCredentials: descriptors(excludeCredentials),
        ...(more.timeout === undefined ? {} : { timeout: more.timeout }),
        ...(more.attestation === undefined ? {} : { attestation: more.attestation }),
        ...(more.authenticatorSelection === undefined
          ? {}
          : { authenticatorSelection: more.authenticatorSelection }),
      },
    }),
  );
  const { response } = credential;
  if (!(response instanceof AuthenticatorAttestationResponse))
    throw new Error("the browser made no passkey");
  return {
    ...common(credential),
    response: {
      clientDataJSON: toBase64url(response.clientDataJSON),
      attestationObject: toBase64url(response.attestationObject),
      transports: response.getTransports(),
    },
  };
}

/**
 * Why a passkey's prompt ended without one, for a person.
 *
 * @param {unknown} error
 */
export function describeFailure(error) {
  const name = error instanceof Error ? error.name : "";
  if (name === "NotAllowedError")
    return "The passkey was not used: it was cancelled, or took too long.";
  if (name === "InvalidStateError")
    return "This device has a passkey of yours for this inbox already.";
  if (name === "SecurityError")
    return "Passkeys work only at the inbox's own name: open it at the address that it printed.";
  return undefined;
}
