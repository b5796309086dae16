/**
 * Passkey: what is kept of one, and what a registration or an assertion gives. Types only. Wire
 * format: spec/web-inbox.md; proofs: spec/proof.md §3.
 */
import type { JsonObject } from "@acp/core";

/** The public part of a person's passkey; nothing in it is secret. */
export interface Passkey {
  /** The credential id, base64url without padding. */
  readonly id: string;
  /** Approver id of its owner. */
  readonly approver: string;
  /** Public key as COSE_Key (RFC 9052), base64url without padding. */
  readonly publicKey: string;
  /** The relying party id (host name) that it was created for. */
  readonly rpId: string;
  /**
   * Origins where it may sign: exact, or `http://*.<rpId>` for every name right below the relying
   * party id, on every port. Assertions from other origins do not count.
   */
  readonly origins: readonly string[];
  /** Name that its owner gave it. */
  readonly label: string;
  /** When it was registered, in milliseconds since 1970. */
  readonly createdAtMs: number;
  /**
   * When it was revoked, in milliseconds since 1970: what it signed before stays valid evidence.
   * Absent: it is active.
   */
  readonly revokedAtMs?: number;
}

/** A store of the passkeys of all people. */
export interface PasskeyStore {
  /** Every passkey, revoked ones included. */
  list(): Promise<readonly Passkey[]>;
  /** Adds a passkey; false if one with its id exists. */
  add(passkey: Passkey): Promise<boolean>;
  /** Revokes a passkey; false if this approver has no active passkey with this id. */
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
