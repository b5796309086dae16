import { expect, it } from "vitest";
import { makePayload, PAYLOAD_TYPE, type SignedResponse } from "./payload.js";

const response: SignedResponse = {
  requestId: "cr_1",
  nonce: "n_1",
  decision: "approved",
  timestamp: "t",
  validUntil: "v",
  approverId: "a",
  channel: "c",
  modifications: undefined,
  reason: "",
  grantId: undefined,
  confirmation: undefined,
};
const question = { parameters: { path: "a.txt", content: "grüße" }, requestHash: "sha256:r" };
const textOf = (change: Partial<SignedResponse>): string =>
  new TextDecoder().decode(makePayload({ ...response, ...change }, question).bytes);

it("makePayload() is a line with its type and the RFC 8785 form of S0's object, the request hash, the approver and the channel", () => {
  // printf '{"content":"grüße","path":"a.txt"}' | sha256sum
  expect(textOf({})).toBe(
    'acp/consent/v2\n{"action_hash":"sha256:f225102361b9e6fede89fcace4361febff4d441622f523c3cc9433236718ee57","approver_id":"a","channel":"c",' +
      '"decision":"approved","modifications_hash":null,"nonce":"n_1","request_hash":"sha256:r","request_id":"cr_1","timestamp":"t","valid_until":"v"}',
  );
});

it("makePayload() differs for every field of a response", () => {
  const changes: readonly Partial<SignedResponse>[] = [
    ...[
      "requestId",
      "nonce",
      "decision",
      "timestamp",
      "validUntil",
      "approverId",
      "channel",
      "reason",
      "grantId",
      "confirmation",
    ].map((key) => ({
      [key]: "other",
    })),
    { modifications: {} },
    { modifications: { a: 1 } },
    { reason: "null" },
    { grantId: "null" },
    { confirmation: "null" },
    {},
  ];
  expect(new Set(changes.map(textOf)).size).toBe(changes.length);
});

it("makePayload() of version 1 is the JSON alone, so that neither version's bytes are the other's", () => {
  const older = new TextDecoder().decode(makePayload(response, question, 1).bytes);
  expect(textOf({})).toBe(`${PAYLOAD_TYPE}\n${older}`);
  expect(older.startsWith("{")).toBe(true);
});
