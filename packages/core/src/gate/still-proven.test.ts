/**
 * A proof that holds is not enough: it must be one of this consent, by these people, for what they
 * took.
 */
import { pendingRecord } from "@acp/testing";
import { describe, expect, it } from "vitest";
import {
  type Claims,
  type EvidenceVerifier,
  type Grant,
  type JsonObject,
  makeResponse,
  type PendingRecord,
} from "../index.js";
import { claimDecision } from "./claim-decision.js";
import { PASSKEY_ALGORITHM } from "./evidence.js";
import { whyDecisionUnproven, whyGrantUnproven } from "./still-proven.js";

const believing = (algorithm: string): EvidenceVerifier => ({
  algorithm,
  verify: () => Promise.resolve({ ok: true }),
});
const parts = {
  verifiers: [believing(PASSKEY_ALGORITHM), believing("Fingerprint")],
  within: <T>(work: Promise<T>): Promise<T> => work,
};

const record = pendingRecord();
const scope = { kind: "tool", server: "files", name: "write_file" } as const;
const request = {
  ...record.request,
  evidence: "passkey",
  offers: [{ id: "t", scope, ttlMs: 300_000 }],
} as const;

/** An answer as it is signed, whose proof every verifier here believes. */
function answer(approverId: string, more: JsonObject = {}): JsonObject {
  const terms = {
    decision: "approved",
    nowMs: request.createdAtMs,
    channel: "web",
    approverId,
    grantId: "t",
  } as const;
  return { ...makeResponse(request, terms), proof: { algorithm: PASSKEY_ALGORITHM }, ...more };
}

const GRANT: Grant = {
  id: "gr_1",
  agentId: "demo",
  scope,
  createdAtMs: request.createdAtMs,
  expiresAtMs: request.createdAtMs + 300_000,
  requestId: request.id,
  approverIds: ["ann"],
  evidence: "passkey",
  secrets: [],
  request,
  responses: [answer("ann")],
};

describe("whyGrantUnproven()", () => {
  it("has nothing against the grant that the person took", async () => {
    expect(await whyGrantUnproven(parts, GRANT)).toBeUndefined();
  });

  it.each<readonly [string, Partial<Grant>]>([
    [
      "a proof of another kind than the question wanted",
      { responses: [answer("ann", { proof: { algorithm: "Fingerprint" } })] },
    ],
    ["an answer to another question", { responses: [answer("ann", { request_id: "cr_2" })] }],
    ["an answer with another nonce", { responses: [answer("ann", { nonce: "n_2" })] }],
    ["an answer of somebody else beside it", { responses: [answer("ann"), answer("eve")] }],
    [
      "an answer to an edited call",
      {
        responses: [answer("ann", { decision: "approved_with_modifications", modifications: {} })],
      },
    ],
    ["more evidence than the question wanted", { request: { ...request, evidence: "any" } }],
    [
      "a beginning before the question",
      { createdAtMs: request.createdAtMs - 1, expiresAtMs: request.createdAtMs },
    ],
    [
      "a beginning after the question",
      { createdAtMs: request.expiresAtMs, expiresAtMs: request.expiresAtMs + 1 },
    ],
  ])("says so of one with %s", async (_, change) => {
    expect(await whyGrantUnproven(parts, { ...GRANT, ...change })).toBeDefined();
  });
});

describe("whyDecisionUnproven()", () => {
  const no = {
    decision: "denied",
    nowMs: request.createdAtMs,
    channel: "web",
    approverId: "ann",
  } as const;
  const yes = (
    responses: readonly JsonObject[],
    approverIds: readonly string[] = ["ann"],
  ): PendingRecord => ({
    ...record,
    status: "ended",
    request,
    end: {
      status: "approved",
      atMs: 0,
      reason: "",
      approverIds,
      responses,
      validUntilMs: 0,
      recorded: true,
    },
  });

  it("has nothing against the yes that the person gave", async () => {
    expect(await whyDecisionUnproven(parts, yes([answer("ann")]))).toBeUndefined();
    expect(await whyDecisionUnproven(parts, yes([answer("Ann")]))).toBeUndefined();
  });

  it.each<readonly [string, PendingRecord]>([
    ["a no", yes([{ ...makeResponse(request, no), proof: { algorithm: PASSKEY_ALGORITHM } }])],
    ["a proof of another kind", yes([answer("ann", { proof: { algorithm: "Fingerprint" } })])],
    ["only one of its two people", yes([answer("ann")], ["ann", "bob"])],
  ])("says so of %s", async (_, kept) => {
    expect(await whyDecisionUnproven(parts, kept)).toBeDefined();
  });
});

describe("claimDecision()", () => {
  it("stays taken for as long as the decision or its question is in time, whichever is longer", async () => {
    const ttls: number[] = [];
    const claims: Claims = {
      claimOnce: (_key, ttlMs) => Promise.resolve(ttls.push(ttlMs) > 0),
      isClaimed: () => Promise.resolve(false),
    };
    const nowMs = request.createdAtMs;
    const end = {
      status: "approved",
      atMs: nowMs,
      reason: "",
      approverIds: [],
      recorded: true,
    } as const;
    await claimDecision(claims, { ...record, end: { ...end, validUntilMs: nowMs + 1 } }, nowMs);
    await claimDecision(
      claims,
      { ...record, end: { ...end, validUntilMs: request.expiresAtMs + 1_000 } },
      nowMs,
    );
    const [first = 0, second = 0] = ttls;
    expect(first).toBeGreaterThan(request.expiresAtMs - nowMs);
    expect(second - first).toBe(1_000);
  });
});
