/**
 * Reading a response, its proof and its request for verification: strictly, once, and in one form
 * only.
 */
import { decodeRequest } from "../approval/request-codec.js";
import { readFields } from "../approval/fields.js";
import { decodeResponse, readClaim } from "../approval/response.js";
import type { ConsentRequest } from "../approval/request.js";
import { sha256Digest } from "../action/digest.js";
import { fromHex } from "../crypto/hex.js";
import { asError } from "../errors.js";
import { copyJson } from "../json/copy.js";
import { parseJson } from "../json/parse.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/value.js";
import { parseIsoTime } from "../time.js";
import { type PayloadVersion, readPayloadVersion, type SignedResponse } from "./payload.js";
import { type ProofCode, type ProofFailure, unproven } from "./result.js";

/** A request with its hash. */
export interface ReadRequest {
  readonly request: ConsentRequest;
  readonly wire: JsonObject;
  readonly hash: string;
}

/** A response with its times. */
export interface ReadResponse {
  readonly response: SignedResponse;
  readonly wire: JsonObject;
  readonly givenAtMs: number;
  readonly validUntilMs: number;
  readonly proof: JsonObject | undefined;
}

/** The fields of an Ed25519 proof. */
export interface ReadProof {
  readonly version: PayloadVersion;
  readonly publicKey: string;
  readonly signature: Uint8Array;
  readonly payloadHash: string;
  readonly requestHash: string;
}

/** What was read, or why not. */
export type Reading<T> = T | ProofFailure;

/** Whether a reading failed. */
export function isFailure(reading: object): reading is ProofFailure {
  return "ok" in reading && reading.ok === false;
}

const KEY_DIGITS = 64;
const SIGNATURE_DIGITS = 128;
const HASH = /^sha256:/;

function attempt<T>(code: ProofCode, read: () => T): Reading<T> {
  try {
    return read();
  } catch (error) {
    return unproven(code, asError(error).message);
  }
}

const dataOf = (input: unknown): JsonValue =>
  typeof input === "string" || input instanceof Uint8Array ? parseJson(input) : copyJson(input);

/** Reads a request: JSON text, bytes, or the object. */
export function readRequest(input: unknown): Reading<ReadRequest> {
  return attempt("request_malformed", () => {
    const wire = dataOf(input);
    const request = decodeRequest(wire);
    if (!isJsonObject(wire)) throw new TypeError("the request is not an object");
    return { request, wire, hash: sha256Digest(wire) };
  });
}

/**
 * Reads a response: JSON text, bytes, or the object. What may be left out elsewhere is required
 * here, and has one spelling.
 */
export function readResponse(input: unknown): Reading<ReadResponse> {
  return attempt("response_malformed", () => {
    const wire = readClaim(input);
    const { requestId, nonce, decision, modifications, reason, grantId, confirmation, proof } =
      decodeResponse(wire);
    if (!isJsonObject(wire)) throw new TypeError("the response is not an object");
    const fields = readFields(wire, "consent_response");
    const approver = fields.object("approver");
    const conditions = fields.object("conditions");
    const response = {
      requestId,
      nonce,
      decision,
      modifications,
      reason,
      grantId,
      confirmation,
      timestamp: fields.text("timestamp"),
      validUntil: conditions.text("valid_until"),
      approverId: approver.text("id"),
      channel: approver.text("channel"),
    };
    approver.done();
    const isInForm =
      conditions.flag("single_use") === (grantId === undefined) &&
      (modifications !== undefined || fields.isNull("modifications")) &&
      (reason !== "" || wire["reason"] === undefined);
    const givenAtMs = parseIsoTime(response.timestamp);
    const validUntilMs = parseIsoTime(response.validUntil);
    if (!isInForm || givenAtMs === undefined || validUntilMs === undefined)
      throw new TypeError(
        `the response is not in the form that is signed: "modifications", "reason", "single_use" or a time`,
      );
    return { response, wire, givenAtMs, validUntilMs, proof };
  });
}

/** Why a field is not so many lower-case hex digits. */
function hexProblem(field: string, hex: string, digits: number): ProofFailure | undefined {
  if (/[^0-9a-fA-F]/.test(hex))
    return unproven("hex_invalid", `"proof.${field}" is not hexadecimal`);
  if (hex.length !== digits)
    return unproven(
      "hex_length",
      `"proof.${field}" has ${hex.length} hex digits instead of ${digits}`,
    );
  return /[A-F]/.test(hex)
    ? unproven("hex_upper_case", `"proof.${field}" has upper-case hex digits`)
    : undefined;
}

/** Reads an Ed25519 proof. */
export function readProof(proof: JsonObject): Reading<ReadProof> {
  const texts = attempt("proof_malformed", () => {
    const fields = readFields(proof, "proof");
    fields.ignore("algorithm");
    const read = {
      version: readPayloadVersion(fields),
      public_key: fields.text("public_key"),
      signature: fields.text("signature"),
      signed_payload_hash: fields.text("signed_payload_hash"),
      request_hash: fields.text("request_hash"),
    };
    fields.done();
    if (!HASH.test(read.signed_payload_hash) || !HASH.test(read.request_hash))
      throw new TypeError(`a hash does not start with "sha256:"`);
    return read;
  });
  if (isFailure(texts)) return texts;
  const problem =
    hexProblem("public_key", texts.public_key, KEY_DIGITS) ??
    hexProblem("signature", texts.signature, SIGNATURE_DIGITS) ??
    hexProblem("signed_payload_hash", texts.signed_payload_hash.replace(HASH, ""), KEY_DIGITS) ??
    hexProblem("request_hash", texts.request_hash.replace(HASH, ""), KEY_DIGITS);
  if (problem !== undefined) return problem;
  return {
    version: texts.version,
    publicKey: texts.public_key,
    signature: fromHex(texts.signature) ?? new Uint8Array(),
    payloadHash: texts.signed_payload_hash,
    requestHash: texts.request_hash,
  };
}
