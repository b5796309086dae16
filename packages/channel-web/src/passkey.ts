/**
 * Passkey: what is kept of one, and what a registration or an assertion gives. Types only. Wire
 * format: spec/web-inbox.md; proofs: spec/proof.md §3.
 */
import type { JsonObject } from "@acp/core";

/** A person's passkey: public, nothing in it is a secret. */
export interface Passkey {
  /** The credential id, base64url without padding. */
  readonly id: string;
  /** Whose it is: an approver id. */
  readonly approver: string;
  /** COSE_Key (RFC 9052), base64url without padding. */
  readonly publicKey: string;
  /** The domain that it was made for. */
  readonly rpId: string;
  /**
   * Where it signs: exact origins, or `http://*.<rpId>` for every name right below the domain, on
   * every port. Assertions from elsewhere do not count.
   */
  readonly origins: readonly string[];
  /** What its owner calls it. */
  readonly label: string;
  /** When it was registered, in milliseconds since 1970. */
  readonly createdAtMs: number;
  /** From then on it signs nothing that counts; what it signed before stays evidence. */
  readonly revokedAtMs?: number;
}

/** Keeps the passkeys of all people. */
export interface PasskeyStore {
  /** Every passkey, revoked ones included. */
  list(): Promise<readonly Passkey[]>;
  /** False where its id is there already. */
  add(passkey: Passkey): Promise<boolean>;
  /** False where there is none in use with this id of this approver. */
  revoke(id: string, approver: string, atMs: number): Promise<boolean>;
}

/** What a registration gave. */
export type PasskeyRegistration =
  | { readonly ok: true; readonly id: string; readonly publicKey: string }
  | { readonly ok: false; readonly reason: string };

/** A good assertion: whose passkey, and the four fields of its proof (spec/proof.md §3). */
export type PasskeyAssertion =
  | { readonly ok: true; readonly passkey: Passkey; readonly signed: PasskeySignature }
  | { readonly ok: false; readonly reason: string };

/** What the authenticator signed, base64url without padding. */
export interface PasskeySignature {
  readonly credential_id: string;
  readonly authenticator_data: string;
  readonly client_data_json: string;
  readonly signature: string;
}

/**
 * WebAuthn for one origin, without a memory of its own; challenges are 32 bytes as base64url. What
 * does not hold is a value, never a throw.
 */
export interface PasskeyCeremony {
  /**
   * `PublicKeyCredentialCreationOptionsJSON`; `known` are this person's, so that no authenticator
   * is taken twice.
   */
  makeRegistrationOptions(terms: {
    readonly approver: string;
    readonly challenge: string;
    readonly known: readonly Passkey[];
  }): Promise<JsonObject>;
  checkRegistration(terms: {
    readonly registration: JsonObject;
    readonly challenge: string;
  }): Promise<PasskeyRegistration>;
  /**
   * `PublicKeyCredentialRequestOptionsJSON`; none `allowed` lets the person choose among all that
   * they have for this domain.
   */
  makeAssertionOptions(terms: {
    readonly challenge: string;
    readonly allowed: readonly Passkey[];
  }): Promise<JsonObject>;
  /**
   * Type, challenge, origin, RP ID, presence, user verification and the signature of one of these
   * passkeys.
   */
  checkAssertion(terms: {
    readonly assertion: JsonObject;
    readonly challenge: string;
    readonly passkeys: readonly Passkey[];
  }): Promise<PasskeyAssertion>;
}
