/**
 * What the proof tests share: a question, a key pair, a signed answer, and how to change one thing
 * about them.
 */
import { renderText } from "../src/approval/text.js";
import { type ConsentRequest, encodeRequest, type JsonObject } from "../src/index.js";
import {
  importPublicKey,
  keyPairFromSeed,
  type SignedParts,
  signConsent,
  type TrustedKey,
} from "../src/proof.js";

export const askedAtMs: number = Date.UTC(2026, 0, 15, 10, 30);
export const givenAtMs: number = askedAtMs + 20_000;
export const validUntilMs: number = givenAtMs + 300_000;

export const pair = keyPairFromSeed(Uint8Array.from({ length: 32 }, (_, at) => at));
export const otherPair = keyPairFromSeed(new Uint8Array(32).fill(7));
export const trusted: TrustedKey = { key: importPublicKey(pair.publicKey) };

export function question(change: Partial<ConsentRequest> = {}): ConsentRequest {
  const asked = {
    id: "cr_1",
    createdAtMs: askedAtMs,
    expiresAtMs: askedAtMs + 120_000,
    agent: { id: "demo", name: "demo", command: "" },
    action: {
      tool: "write_file",
      server: "files",
      category: "write",
      riskLevel: "medium",
      parameters: { path: "a.txt", content: "grüße" },
      description: "call write_file on files",
    },
    policy: { ruleId: "ask-writes", ruleName: "", requiredLevel: "medium" },
    nonce: "n_1",
    actionDigest: "sha256:00",
    quorum: 1,
    evidence: "any",
    offers: [],
    secrets: [],
  } as const;
  return { ...asked, text: renderText(asked, "writes are asked"), ...change };
}

/** A request and a signed response as wire JSON. */
export interface Signed {
  readonly request: JsonObject;
  readonly response: JsonObject;
}

export async function signed(
  parts: Partial<SignedParts> = {},
  change: Partial<ConsentRequest> = {},
  signer: typeof pair = pair,
): Promise<Signed> {
  const request = question(change);
  const answer: SignedParts = {
    decision: "approved",
    nowMs: givenAtMs,
    channel: "terminal",
    approverId: "alice",
    ...parts,
  };
  return { request: encodeRequest(request), response: await signConsent(request, answer, signer) };
}

/**
 * A copy with one value replaced, or taken out with `undefined`; the value may be no JSON at all.
 */
export function changed(object: JsonObject, path: string, value: unknown): JsonObject {
  const copy: Record<string, unknown> = structuredClone(object);
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  const inner = keys.reduce((each, key) => each[key] as Record<string, unknown>, copy);
  if (value === undefined) delete inner[last];
  else inner[last] = value;
  return copy as JsonObject;
}
