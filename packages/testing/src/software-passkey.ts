/**
 * A passkey in software: what an authenticator and a browser together answer, for tests without a
 * browser. It does as it is told, also what no honest authenticator would. Source: WebAuthn Level 3
 * §6 and §7; keys as COSE (RFC 9053).
 */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";
import type { JsonObject } from "@acp/core";

/** Algorithm that a software passkey signs with. */
export type PasskeyAlgorithm = "ES256" | "EdDSA" | "RS256";

/** A passkey in software, for tests. */
export interface SoftwarePasskeyTwist {
  /** Another origin in the client data, such as `https://evil.example`. */
  readonly origin?: string;
  /** Another challenge in the client data, as base64url. */
  readonly challenge?: string;
  /** Another ceremony in the client data, such as `webauthn.create`. */
  readonly type?: string;
  /** Another relying party id, hashed into the authenticator data. */
  readonly rpId?: string;
  /** Whether the user was present; true unless given. */
  readonly isPresent?: boolean;
  /** Whether the user was verified; true unless given. */
  readonly isVerified?: boolean;
  /** Value of `crossOrigin` in the client data; not in it unless given. */
  readonly crossOrigin?: boolean;
  /** True to sign other bytes; false unless given. */
  readonly isForged?: boolean;
}

/** A passkey of one person. */
export interface SoftwarePasskey {
  /** The credential id, base64url. */
  readonly id: string;
  /** Public key as COSE_Key (RFC 9052), base64url. */
  readonly publicKey: string;
  /** Registers with creation options; returns a `RegistrationResponseJSON`. */
  register(options: JsonObject, twist?: SoftwarePasskeyTwist): JsonObject;
  /** Signs in with request options; returns an `AuthenticationResponseJSON`. */
  assert(options: JsonObject, twist?: SoftwarePasskeyTwist): JsonObject;
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
const sha256 = (bytes: Uint8Array | string): Buffer => createHash("sha256").update(bytes).digest();

type Cbor = number | string | Uint8Array | ReadonlyMap<Cbor, Cbor>;

function head(major: number, count: number): Buffer {
  if (count < 24) return Buffer.from([(major << 5) | count]);
  if (count < 256) return Buffer.from([(major << 5) | 24, count]);
  return Buffer.from([(major << 5) | 25, count >> 8, count & 255]);
}

/** Canonical CBOR of the few types that WebAuthn needs. */
function cbor(value: Cbor): Buffer {
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === "string")
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  return Buffer.concat([
    head(5, value.size),
    ...[...value].flatMap(([key, each]) => [cbor(key), cbor(each)]),
  ]);
}

interface Pair {
  readonly privateKey: KeyObject;
  readonly cose: Buffer;
  readonly hash: string | undefined;
}

const bytesOf = (text: string | undefined): Uint8Array =>
  new Uint8Array(Buffer.from(text ?? "", "base64url"));

const PAIRS: Readonly<Record<PasskeyAlgorithm, () => Pair>> = {
  ES256() {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { x, y } = publicKey.export({ format: "jwk" });
    const cose = cbor(
      new Map<Cbor, Cbor>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, bytesOf(x)],
        [-3, bytesOf(y)],
      ]),
    );
    return { privateKey, cose, hash: "sha256" };
  },
  EdDSA() {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const { x } = publicKey.export({ format: "jwk" });
    const cose = cbor(
      new Map<Cbor, Cbor>([
        [1, 1],
        [3, -8],
        [-1, 6],
        [-2, bytesOf(x)],
      ]),
    );
    return { privateKey, cose, hash: undefined };
  },
  RS256() {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const { n, e } = publicKey.export({ format: "jwk" });
    const cose = cbor(
      new Map<Cbor, Cbor>([
        [1, 3],
        [3, -257],
        [-1, bytesOf(n)],
        [-2, bytesOf(e)],
      ]),
    );
    return { privateKey, cose, hash: "sha256" };
  },
};

const textAt = (object: unknown, key: string): string => {
  const value: unknown =
    typeof object === "object" && object !== null ? Reflect.get(object, key) : undefined;
  return typeof value === "string" ? value : "";
};

/** `CollectedClientData` (WebAuthn §5.8.1). */
function clientDataOf(
  honest: { readonly type: string; readonly challenge: string; readonly origin: string },
  twist: SoftwarePasskeyTwist,
): Buffer {
  return Buffer.from(
    JSON.stringify({
      type: twist.type ?? honest.type,
      challenge: twist.challenge ?? honest.challenge,
      origin: twist.origin ?? honest.origin,
      crossOrigin: twist.crossOrigin ?? false,
    }),
  );
}

/** Authenticator data (WebAuthn §6.1); its counter goes up by one with each. */
function createAuthenticator(): (
  rpId: string,
  twist: SoftwarePasskeyTwist,
  attested?: Buffer,
) => Buffer {
  let counter = 0;
  return (rpId, twist, attested) => {
    const flags =
      (twist.isPresent === false ? 0 : 1) |
      (twist.isVerified === false ? 0 : 4) |
      (attested === undefined ? 0 : 0x40);
    const count = Buffer.alloc(4);
    count.writeUInt32BE((counter += 1));
    return Buffer.concat([
      sha256(twist.rpId ?? rpId),
      Buffer.from([flags]),
      count,
      attested ?? Buffer.alloc(0),
    ]);
  };
}

/**
 * Makes a passkey in software, for tests.
 *
 * @param origin - Where its browser is, such as `http://localhost:8789`.
 */
export function createSoftwarePasskey(
  origin: string,
  algorithm: PasskeyAlgorithm = "ES256",
): SoftwarePasskey {
  const { privateKey, cose, hash } = PAIRS[algorithm]();
  const id = randomBytes(16);
  const authenticatorData = createAuthenticator();
  const clientData = (options: JsonObject, type: string, twist: SoftwarePasskeyTwist): Buffer =>
    clientDataOf({ type, challenge: textAt(options, "challenge"), origin }, twist);
  const credential = (response: JsonObject): JsonObject => ({
    id: base64url(id),
    rawId: base64url(id),
    type: "public-key",
    clientExtensionResults: {},
    response,
  });
  return {
    id: base64url(id),
    publicKey: base64url(cose),
    register(options, twist = {}) {
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, cose]);
      const authData = authenticatorData(textAt(options["rp"], "id"), twist, attested);
      const attestation = new Map<Cbor, Cbor>([
        ["fmt", "none"],
        ["attStmt", new Map()],
        ["authData", authData],
      ]);
      return credential({
        clientDataJSON: base64url(clientData(options, "webauthn.create", twist)),
        attestationObject: base64url(cbor(attestation)),
      });
    },
    assert(options, twist = {}) {
      const data = clientData(options, "webauthn.get", twist);
      const authData = authenticatorData(textAt(options, "rpId"), twist);
      const signed =
        twist.isForged === true ? randomBytes(69) : Buffer.concat([authData, sha256(data)]);
      return credential({
        clientDataJSON: base64url(data),
        authenticatorData: base64url(authData),
        signature: base64url(sign(hash, signed, privateKey)),
      });
    },
  };
}
