/**
 * Errors: the one class that ACP throws, and its codes. Thrown for misuse and broken input only: a
 * "no" is a value (see verdict.ts). Codes are API; texts are not.
 */

/** What a {@link ConsentError} means. Codes are stable; new ones may be added. */
export type ConsentErrorCode =
  /** An Action could not be made: the input is not plain JSON data of the right shape. */
  | "action_invalid"
  /** A host, port or URL could not be read in one way only. */
  | "host_invalid"
  /** JSON text is malformed. */
  | "json_invalid"
  /** JSON text or data has an unpaired surrogate. */
  | "json_lone_surrogate"
  /** A JSON object holds the same key twice. */
  | "json_duplicate_key"
  /** A JSON number is digits only and beyond ±(2^53−1). */
  | "json_unsafe_integer"
  /** JSON is nested deeper than 64. */
  | "json_too_deep"
  /** JSON text or data is larger than the limit. */
  | "json_too_large"
  /** A value has no JSON form: NaN, a function, a class instance, a cycle. */
  | "json_not_data"
  /** A policy does not load. */
  | "policy_invalid"
  /** Options of a factory do not fit together. */
  | "options_invalid"
  /** A ConsentRequest or ConsentResponse is malformed. */
  | "message_invalid"
  /** The permit was not issued by a gate of this process. */
  | "permit_unknown"
  /** The permit was issued by another gate of this process. */
  | "permit_other_gate"
  /** The permit was not redeemed, so that there is no outcome to report. */
  | "permit_unspent"
  /**
   * The outcome was reported before, or the gate performed the action and recorded it by itself.
   */
  | "permit_reported"
  /** The permit was redeemed before. */
  | "permit_spent"
  /** The permit's time is over. */
  | "permit_expired"
  /** The permit was issued for another action. */
  | "permit_other_action"
  /** The layers in force at redemption deny the action. */
  | "permit_denied"
  /** A key is not of the required form, or no key that may be trusted. */
  | "key_rejected"
  /** A channel has nobody to ask: no terminal, no attached client. */
  | "channel_unavailable"
  /** A channel could not show the question. */
  | "channel_failed"
  /** The audit log refused or could not keep an event. */
  | "audit_failed"
  /** Another live process writes the audit log. */
  | "audit_busy"
  /** A configuration file does not load. */
  | "config_invalid"
  /** A file or directory of the home is missing, unsafe or unreadable. */
  | "home_invalid"
  /**
   * A vault or an `encrypted:` text does not open: another key, or a changed byte. Which of them is
   * never said.
   */
  | "vault_invalid"
  /** A secret cannot be kept: its name, its value's length or its binding. */
  | "secret_invalid"
  /**
   * A secret that an action names cannot be put into it: unknown, not released or bound elsewhere.
   * Which of them is never said.
   */
  | "secret_refused"
  /**
   * A private key does not open: another passphrase or key file, or a changed byte. Which of them
   * is never said.
   */
  | "key_locked"
  /** A server at an address wants somebody to sign in, or to sign in again. */
  | "authorization_needed"
  /**
   * What a server or its authorization server says of itself breaks the rules of OAuth, or names a
   * place where nothing may be sent.
   */
  | "authorization_refused"
  /** The authorization server, or the person there, said no. */
  | "authorization_denied"
  /** An authorization server cannot be reached, or is too slow. */
  | "authorization_unavailable"
  /**
   * The index of a home's audit logs is being made anew, and what the logs note of keys, vault,
   * grants and passkeys is not known before it is whole: nothing is allowed until then.
   */
  | "index_rebuilding"
  /** Another live process changes the home. */
  | "home_busy"
  /** A sandbox cannot start here, or not at the level that was asked for. */
  | "sandbox_unavailable"
  /**
   * A sandbox did not hold what it promised, or the agent could not be started in it; nothing is
   * left running.
   */
  | "sandbox_failed"
  /** A part of the gate did not answer in time. */
  | "part_timeout"
  /** The operation was ended by its AbortSignal. */
  | "aborted";

/** Where an error is in a text. */
export interface TextPosition {
  /** Counted from 1; lines end with `\n`. */
  readonly line: number;
  /** Counted from 1, in UTF-16 units. */
  readonly column: number;
}

/** Options of {@link ConsentError}; `cause` is that of Error. */
export interface ConsentErrorOptions extends ErrorOptions {
  /** Where the mistake is, in the text that was read. */
  readonly position?: TextPosition;
  /** Path inside the data, e.g. `rules[2].match.tool`. */
  readonly path?: string;
  /** What the writer may have meant, as they would write it. */
  readonly suggestion?: string;
}

/**
 * The one error class of ACP. Match on `code`, never on `instanceof` across packages, never on the
 * text.
 */
export class ConsentError extends Error {
  override readonly name = "ConsentError";
  /** What went wrong: stable, match on it. */
  readonly code: ConsentErrorCode;
  /** Where the mistake is, in the text that was read; `undefined` where no text was. */
  readonly position: TextPosition | undefined;
  /** Path inside the data, e.g. `rules[2].match.tool`; `undefined` where the error has none. */
  readonly path: string | undefined;
  /** What the writer may have meant; `undefined` where nothing comes close. */
  readonly suggestion: string | undefined;

  constructor(code: ConsentErrorCode, message: string, options: ConsentErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.position = options.position;
    this.path = options.path;
    this.suggestion = options.suggestion;
  }
}

/**
 * Whether `value` is a ConsentError of this or another copy of the package, and has the given code
 * where one is named.
 */
export function isConsentError(value: unknown, code?: ConsentErrorCode): value is ConsentError {
  if (!(value instanceof Error) || value.name !== "ConsentError" || !("code" in value))
    return false;
  return code === undefined || value.code === code;
}

/** Anything that was thrown, as an Error; an Error is returned as it is. Never throws. */
export function asError(thrown: unknown): Error {
  try {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
  } catch {
    return new Error("an error without a message");
  }
}
