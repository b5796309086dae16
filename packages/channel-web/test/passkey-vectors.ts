/**
 * Makes spec/vectors/passkey-proofs.json: records whose proofs are passkeys', good ones and one for
 * each way in which one proves nothing. `node --import tsx
 * packages/channel-web/test/passkey-vectors.ts > spec/vectors/passkey-proofs.json` makes new keys,
 * and so a new file.
 */
import { pathToFileURL } from "node:url";
import {
  type AnswerParts,
  type ConsentRequest,
  type JsonObject,
  encodeRequest,
  isJsonObject,
  makeResponse,
} from "@acp/core";
import { consentPayload, PAYLOAD_TYPE } from "@acp/core/proof";
import {
  type PasskeyAlgorithm,
  type SoftwarePasskey,
  type SoftwarePasskeyTwist,
  createSoftwarePasskey,
  sampleRequest,
} from "@acp/testing";
import type { Passkey } from "../src/passkey.js";

/**
 * A record as `acp proof export` writes it, and what checking it says: `ok` or a code of
 * spec/proof.md §4.
 */
export interface PasskeyCase {
  readonly name: string;
  readonly record: { readonly request: JsonObject; readonly response: JsonObject };
  readonly expect: string;
}

/** The file. `passkeys` is what `acp passkeys export` writes. */
export interface PasskeyVectors {
  readonly spec: string;
  readonly passkeys: { readonly version: string; readonly passkeys: readonly Passkey[] };
  readonly cases: readonly PasskeyCase[];
}

/** What core says of all that a verifier refuses. */
const SIGNATURE = "signature_invalid";
const ORIGIN = "https://inbox.example.com";
const RP_ID = "inbox.example.com";
const ASKED_AT_MS: number = Date.UTC(2026, 0, 15, 10, 30);
const GIVEN_AT_MS: number = ASKED_AT_MS + 20_000;

interface Owned {
  readonly key: SoftwarePasskey;
  readonly passkey: Passkey;
}

function owned(
  approver: string,
  label: string,
  more: Partial<Passkey> & { readonly algorithm?: PasskeyAlgorithm } = {},
): Owned {
  const { algorithm, ...changes } = more;
  const key = createSoftwarePasskey(ORIGIN, algorithm);
  const { id, publicKey } = key;
  const passkey = {
    id,
    approver,
    publicKey,
    rpId: RP_ID,
    origins: [ORIGIN],
    label,
    createdAtMs: ASKED_AT_MS - 86_400_000,
    ...changes,
  };
  return { key, passkey };
}

function question(change: Partial<ConsentRequest> = {}): ConsentRequest {
  return sampleRequest({
    id: "cr_1",
    nonce: "n_1",
    createdAtMs: ASKED_AT_MS,
    evidence: "passkey",
    ...change,
  });
}

/** How a record is made. */
interface Making {
  readonly asked?: ConsentRequest;
  readonly answer?: Partial<AnswerParts>;
  readonly twist?: SoftwarePasskeyTwist;
}

function signed(
  { key }: Owned,
  { asked = question(), answer = {}, twist = {} }: Making = {},
): PasskeyCase["record"] {
  const request = encodeRequest(asked);
  const response = makeResponse(asked, {
    decision: "approved",
    nowMs: GIVEN_AT_MS,
    channel: "web",
    approverId: "ada",
    ...answer,
  });
  const { hash, requestHash } = consentPayload(response, request);
  const challenge = Buffer.from(hash.slice("sha256:".length), "hex").toString("base64url");
  const assertion = key.assert({ challenge, rpId: RP_ID }, twist)["response"];
  const {
    authenticatorData = "",
    clientDataJSON = "",
    signature = "",
  } = isJsonObject(assertion) ? assertion : {};
  const proof = {
    algorithm: "WebAuthn",
    payload_type: PAYLOAD_TYPE,
    credential_id: key.id,
    authenticator_data: authenticatorData,
    client_data_json: clientDataJSON,
    signature,
    signed_payload_hash: hash,
    request_hash: requestHash,
  };
  return { request, response: { ...response, proof } };
}

/** The record with other fields in its proof; `undefined` takes one out. */
function reproved(
  { request, response }: PasskeyCase["record"],
  change: Readonly<Record<string, string | undefined>>,
): PasskeyCase["record"] {
  const proof = Object.entries({ ...Object(response["proof"]), ...change }).filter(
    ([, value]) => value !== undefined,
  );
  return { request, response: { ...response, proof: Object.fromEntries(proof) as JsonObject } };
}

const proofOf = ({ response }: PasskeyCase["record"]): Readonly<Record<string, string>> => ({
  ...Object(response["proof"]),
});

/** Authenticator data with one flag turned around after it was signed. */
function flipped(record: PasskeyCase["record"], flag: number): PasskeyCase["record"] {
  const bytes = Buffer.from(proofOf(record)["authenticator_data"] ?? "", "base64url");
  bytes[32] = (bytes[32] ?? 0) ^ flag;
  return reproved(record, { authenticator_data: bytes.toString("base64url") });
}

/** Everybody's passkeys. */
interface People {
  readonly phone: Owned;
  readonly laptop: Owned;
  readonly old: Owned;
  readonly young: Owned;
  readonly bobs: Owned;
}

function goodCases({
  phone,
  laptop,
  old,
  bobs,
}: People): readonly (readonly [string, PasskeyCase["record"]])[] {
  const offers = [
    {
      id: "host-1",
      scope: { kind: "tool", server: "files", name: "write_file" },
      ttlMs: 600_000,
      uses: 3,
    },
  ] as const;
  const critical = question({
    policy: { ruleId: "rule_1", ruleName: "", requiredLevel: "critical" },
  });
  const parameters = {
    n: [1e21, 1e-7, -0, 0.1, 2 ** 53 - 1],
    "€": '\u0000\u001f"\\/',
    "😀": "é",
    "\ufb33": {},
    a: null,
  };
  const awkward = question({ action: { ...question().action, parameters } });
  return [
    ["a yes with ES256", signed(phone)],
    ["a yes with EdDSA", signed(laptop)],
    ["a yes with RS256, before the passkey was revoked", signed(old)],
    ["a yes of somebody else, with their own", signed(bobs, { answer: { approverId: "bob" } })],
    [
      "a yes to a question that wants no passkey",
      signed(phone, { asked: question({ evidence: "any" }) }),
    ],
    [
      "a yes to a question put to this person",
      signed(phone, { asked: question({ approvers: ["ada", "bob"] }) }),
    ],
    ["a yes through an approve socket", signed(phone, { answer: { channel: "terminal" } })],
    [
      "a yes with a typed word",
      signed(phone, { asked: critical, answer: { confirmation: "approve" } }),
    ],
    ["a yes with awkward parameters", signed(phone, { asked: awkward })],
    [
      "an edit",
      signed(phone, {
        answer: {
          decision: "approved_with_modifications",
          modifications: { path: "notes.txt", content: "hi" },
        },
      }),
    ],
    [
      "a yes for a while",
      signed(phone, { asked: question({ offers: [...offers] }), answer: { grantId: "host-1" } }),
    ],
    [
      "a no that is signed too",
      signed(phone, { answer: { decision: "denied", reason: "not today" } }),
    ],
  ];
}

function assertionCases({ phone }: People): readonly (readonly [string, PasskeyCase["record"]])[] {
  const twisted = (twist: SoftwarePasskeyTwist): PasskeyCase["record"] => signed(phone, { twist });
  const yes = signed(phone);
  const other = signed(phone, { asked: question({ id: "cr_2", nonce: "n_2" }) });
  const { authenticator_data = "", client_data_json = "", signature = "" } = proofOf(other);
  return [
    ["a signature over other bytes", twisted({ isForged: true })],
    ["no user verification", twisted({ isVerified: false })],
    ["no user presence", twisted({ isPresent: false })],
    ["user verification added afterwards", flipped(twisted({ isVerified: false }), 4)],
    ["another origin", twisted({ origin: "https://inbox.example.com.evil.example" })],
    ["the origin with another port", twisted({ origin: `${ORIGIN}:8443` })],
    ["another RP ID", twisted({ rpId: "example.com" })],
    ["a page within another page", twisted({ crossOrigin: true })],
    ["a registration, not an assertion", twisted({ type: "webauthn.create" })],
    ["no challenge", twisted({ challenge: "" })],
    [
      "the assertion of another answer",
      reproved(yes, { authenticator_data, client_data_json, signature }),
    ],
    ["base64url with padding", reproved(yes, { signature: `${proofOf(yes)["signature"] ?? ""}=` })],
    ["an empty signature", reproved(yes, { signature: "" })],
  ];
}

function ownerCases({
  phone,
  bobs,
  young,
  old,
}: People): readonly (readonly [string, PasskeyCase["record"]])[] {
  const lateMs = GIVEN_AT_MS + 60_000;
  return [
    ["a passkey that nobody has", signed(owned("ada", "stranger"))],
    ["another person's passkey", signed(bobs)],
    [
      "a person's own passkey in somebody else's name",
      signed(phone, { answer: { approverId: "bob" } }),
    ],
    ["a passkey that was revoked before", signed(old, { answer: { nowMs: lateMs } })],
    ["a passkey that did not exist yet", signed(young)],
  ];
}

function messageCases({
  phone,
}: People): readonly (readonly [string, PasskeyCase["record"], string])[] {
  const { request, response } = signed(phone);
  const payload = (change: JsonObject): PasskeyCase["record"] => ({
    request,
    response: { ...response, ...change },
  });
  return [
    [
      "another text in the question",
      { request: { ...request, text: "something harmless" }, response },
      SIGNATURE,
    ],
    ["another decision", payload({ decision: "denied" }), SIGNATURE],
    ["another reason", payload({ reason: "because" }), SIGNATURE],
    ["another approver", payload({ approver: { id: "bob", channel: "web" } }), SIGNATURE],
    ["another channel", payload({ approver: { id: "ada", channel: "terminal" } }), SIGNATURE],
    [
      "another time",
      payload({ timestamp: new Date(GIVEN_AT_MS + 1_000).toISOString() }),
      SIGNATURE,
    ],
    [
      "longer than it was signed for",
      payload({ conditions: { valid_until: "2027-01-15T10:30:20.000Z", single_use: true } }),
      SIGNATURE,
    ],
    ["another question", { request: { ...request, id: "cr_2" }, response }, "other_request"],
    [
      "a person who was not asked",
      signed(phone, { asked: question({ approvers: ["bob"] }) }),
      "approver_not_asked",
    ],
    [
      "an answer after the question's end",
      signed(phone, { answer: { nowMs: ASKED_AT_MS + 120_000 } }),
      "outside_question",
    ],
  ];
}

/** Makes the file's content, with new keys. */
export function makePasskeyVectors(): PasskeyVectors {
  const people: People = {
    phone: owned("ada", "phone"),
    laptop: owned("ada", "laptop", { algorithm: "EdDSA" }),
    old: owned("ada", "old phone", { algorithm: "RS256", revokedAtMs: GIVEN_AT_MS + 60_000 }),
    young: owned("ada", "new phone", { createdAtMs: GIVEN_AT_MS + 1 }),
    bobs: owned("bob", "phone"),
  };
  const cases = [
    ...goodCases(people).map(([name, record]) => ({ name, record, expect: "ok" })),
    ...[...assertionCases(people), ...ownerCases(people)].map(([name, record]) => ({
      name,
      record,
      expect: SIGNATURE,
    })),
    ...messageCases(people).map(([name, record, expect]) => ({ name, record, expect })),
  ];
  return {
    spec: "spec/proof.md",
    passkeys: {
      version: "1",
      passkeys: Object.values(people).map(({ passkey }: Owned) => passkey),
    },
    cases,
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  process.stdout.write(`${JSON.stringify(makePasskeyVectors(), undefined, 2)}\n`);
