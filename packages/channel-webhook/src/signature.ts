/**
 * Signatures of Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`, one for every secret in
 * force; one that fits is enough. Remembers nothing: who verifies also keeps the ids
 * (replay-set.ts). Format: spec/webhook.md §2. Vectors: spec/vectors/webhook.json.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { ConsentError } from "@acp/core";
import { readSecrets } from "./secret.js";

/** How far a message's time may be from ours, both ways. */
const TOLERANCE_SECONDS = 300;
/**
 * How long a message can be good: sent at the end of our tolerance, received at the end of it. Ids
 * are kept so long, and a minute more.
 */
export const MESSAGE_LIFETIME_MS: number = (2 * TOLERANCE_SECONDS + 60) * 1000;
/** Characters of a signature header, and signatures looked at: more than any rotation needs. */
const SIGNATURES_CHARS_MAX = 4_096;
const SIGNATURES_MAX = 32;

/** No full stop: what is signed can then be cut into id, time and body in one way only. */
const ID = /^[A-Za-z0-9_-]{1,256}$/;
const SECONDS = /^(?:0|[1-9][0-9]{0,14})$/;
/** The version that is HMAC-SHA256, and the base64 of 32 bytes. */
const SIGNATURE = /^v1,[A-Za-z0-9+/]{43}=$/;

/** A message to sign. Source: Standard Webhooks, spec/webhook.md. */
export interface WebhookMessage {
  /** Id of the message: letters, digits, `_` and `-`; the same for every attempt to deliver it. */
  readonly id: string;
  /** Wall time of this attempt, milliseconds since 1970. */
  readonly timestampMs: number;
  /** The body, exactly as it is sent. */
  readonly body: string | Uint8Array;
}

/** The three headers of a signed message. */
export type WebhookHeaders = Readonly<
  Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>
>;

/**
 * A message as it was received; header names in lower case, as `node:http` and
 * `Object.fromEntries(request.headers)` give them.
 */
export interface ReceivedWebhook {
  /** The headers as received, with names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The bytes as they were received. */
  readonly body: string | Uint8Array;
}

/** Why a message is not accepted. */
export type WebhookProblem =
  | "headers_missing"
  | "headers_invalid"
  | "timestamp_outside_tolerance"
  | "signature_invalid";

/** The result of {@link verifyWebhook}: the message's id, or why it is not accepted. */
export type WebhookCheck =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly code: WebhookProblem };

/** The headers as they were read, before any of them counts for anything. */
interface ReadHeaders {
  readonly id: string;
  readonly timestamp: string;
  readonly signatures: readonly string[];
}

function signatureOf(key: Uint8Array, signed: string, body: string | Uint8Array): string {
  return `v1,${createHmac("sha256", key).update(signed).update(body).digest("base64")}`;
}

/** {@link signWebhook} with keys that were read before. */
export function signWith(
  keys: readonly Uint8Array[],
  { id, timestampMs, body }: WebhookMessage,
): WebhookHeaders {
  const timestamp = String(Math.floor(timestampMs / 1000));
  if (!ID.test(id) || !SECONDS.test(timestamp))
    throw new ConsentError(
      "message_invalid",
      "Cannot sign a webhook: its ID or its time has a form that cannot be sent",
    );
  const signatures = keys.map((key) => signatureOf(key, `${id}.${timestamp}.`, body));
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}

/** What stands in the headers, and whether their time is near enough; costs no hash. */
export function checkHeaders(
  headers: ReceivedWebhook["headers"],
  nowMs: number,
):
  | { readonly ok: true; readonly headers: ReadHeaders }
  | { readonly ok: false; readonly code: WebhookProblem } {
  const [id, timestamp, signature] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map(
    (name) => headers[name],
  );
  if (id === undefined || timestamp === undefined || signature === undefined)
    return { ok: false, code: "headers_missing" };
  // A header that came twice is a list, or joined by a comma that neither form has.
  if (
    typeof id !== "string" ||
    typeof timestamp !== "string" ||
    typeof signature !== "string" ||
    !ID.test(id) ||
    !SECONDS.test(timestamp)
  )
    return { ok: false, code: "headers_invalid" };
  const signatures = signature.length > SIGNATURES_CHARS_MAX ? [] : signature.split(" ");
  if (signatures.length === 0 || signatures.length > SIGNATURES_MAX)
    return { ok: false, code: "headers_invalid" };
  const ageSeconds = Math.floor(nowMs / 1000) - Number(timestamp);
  // Written so that a time that is not a number is outside.
  if (!(ageSeconds <= TOLERANCE_SECONDS && ageSeconds >= -TOLERANCE_SECONDS))
    return { ok: false, code: "timestamp_outside_tolerance" };
  return { ok: true, headers: { id, timestamp, signatures } };
}

/** {@link verifyWebhook} with keys that were read before. */
export function verifyWith(
  keys: readonly Uint8Array[],
  { headers, body }: ReceivedWebhook,
  nowMs: number,
): WebhookCheck {
  const read = checkHeaders(headers, nowMs);
  if (!read.ok) return read;
  const { id, timestamp, signatures } = read.headers;
  // Every key with every signature, whatever was found: the time it takes tells nothing but their
  // number.
  let fits = false;
  const given = signatures.filter((each) => SIGNATURE.test(each)).map((each) => Buffer.from(each));
  for (const key of keys) {
    const wanted = Buffer.from(signatureOf(key, `${id}.${timestamp}.`, body));
    for (const each of given) fits = timingSafeEqual(each, wanted) || fits;
  }
  return fits ? { ok: true, id } : { ok: false, code: "signature_invalid" };
}

/**
 * Signs a message with every secret given.
 *
 * @returns The headers to send with its body.
 * @throws ConsentError `options_invalid` for a malformed secret, `message_invalid` for an id or a
 *   time that cannot be sent.
 */
export function signWebhook(
  message: WebhookMessage,
  secret: string | readonly string[],
): WebhookHeaders {
  return signWith(readSecrets(secret), message);
}

/**
 * Whether a message was signed with one of the secrets, within five minutes of `nowMs`
 * (milliseconds since 1970). Compares in constant time. It remembers no ids: keep those you have
 * seen for eleven minutes, and accept none twice.
 *
 * @throws ConsentError `options_invalid` for a malformed secret.
 */
export function verifyWebhook(
  message: ReceivedWebhook,
  { secret, nowMs }: { readonly secret: string | readonly string[]; readonly nowMs: number },
): WebhookCheck {
  return verifyWith(readSecrets(secret), message, nowMs);
}
