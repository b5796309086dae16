import { expect, it } from "vitest";
import { givenAtMs, pair, question, signed, validUntilMs } from "../../test/proof-kit.js";
import { requestHash } from "../approval/request-codec.js";
import { parseResponse } from "../approval/response.js";
import { signConsent } from "./sign.js";

const parts = {
  decision: "approved",
  nowMs: givenAtMs,
  channel: "terminal",
  approverId: "alice",
} as const;

it("signConsent() writes S0's response with its proof, which the parser takes", async () => {
  const { response } = await signed({ reason: "fine" });
  expect(parseResponse(response)).toMatchObject({
    decision: "approved",
    reason: "fine",
    validUntilMs,
  });
  expect(response).toMatchObject({
    approver: { id: "alice", channel: "terminal" },
    proof: {
      algorithm: "Ed25519",
      public_key: pair.publicKey,
      request_hash: requestHash(question()),
    },
  });
});

it("signConsent() gives the same bytes for the same answer", async () => {
  expect(await signed()).toEqual(await signed());
});

it("signConsent() passes on what the signer throws", async () => {
  const broken = { ...pair, sign: () => Promise.reject(new Error("no token")) };
  await expect(signConsent(question(), parts, broken)).rejects.toThrow("no token");
});
