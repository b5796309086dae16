import { type AnswerReceipt, type Ending, type RefusalCode, makeResponse } from "@acp/core";
import { sampleRequest } from "@acp/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ClientMessage,
  type GateMessage,
  readClientMessage,
  readGateMessage,
  writeClientMessage,
  writeGateMessage,
} from "./wire.js";

const bytes = (line: string): Uint8Array => Buffer.from(line.replace(/\n$/, ""));
const request = sampleRequest({
  offers: [
    {
      id: "tool-10m",
      scope: { kind: "tool", server: "files", name: "write_file" },
      ttlMs: 600_000,
      uses: 3,
    },
  ],
});

const GATE_MESSAGES: readonly GateMessage[] = [
  { type: "hello", channel: "terminal", pid: 4_711, open: 2 },
  { type: "open", question: { request, redelivery: true } },
  { type: "outcome", id: "cr_1", outcome: { status: "ran", detail: "" } },
  {
    type: "outcome",
    id: "cr_1",
    outcome: { status: "not_collected", detail: "the caller did not call again in time" },
  },
  ...(
    ["approved", "approved_with_modifications", "denied", "expired", "cancelled", "failed"] as const
  ).map(
    (status): GateMessage => ({
      type: "ended",
      id: request.id,
      ending: { status, reason: "because" },
    }),
  ),
  {
    type: "ended",
    id: request.id,
    ending: { status: "superseded", reason: "", successorId: "cr_next" },
  },
  ...(
    [
      { status: "final", outcome: "denied" },
      { status: "counted", have: 1, need: 2 },
      { status: "reshow", request },
      { status: "refused", code: "nonce_mismatch", reason: "the nonce is another one" },
    ] satisfies readonly AnswerReceipt[]
  ).map((receipt): GateMessage => ({ type: "receipt", answer: 3, receipt })),
  { type: "error", code: "closing", message: "the gate is closing" },
];

const CLIENT_MESSAGES: readonly ClientMessage[] = [
  { type: "hello", role: "approver" },
  { type: "hello", role: "viewer" },
  {
    type: "answer",
    answer: 1,
    claim: makeResponse(request, { decision: "approved", nowMs: 1, channel: "terminal" }),
  },
];

describe("wire", () => {
  it.each(GATE_MESSAGES.map((message) => [message.type, message] as const))(
    "readGateMessage() reads what writeGateMessage() wrote: %s",
    (_type, message) => {
      const line = writeGateMessage(message);
      expect(line.indexOf("\n")).toBe(line.length - 1);
      expect(readGateMessage(bytes(line))).toEqual(message);
    },
  );

  it.each(CLIENT_MESSAGES.map((message) => [message.type, message] as const))(
    "readClientMessage() reads what writeClientMessage() wrote: %s",
    (_type, message) => {
      const line = writeClientMessage(message);
      expect(line.indexOf("\n")).toBe(line.length - 1);
      expect(readClientMessage(bytes(line))).toEqual(message);
    },
  );

  it("readGateMessage() reads an ending whatever its reason", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 10_000 }),
        fc.string({ unit: "binary" }),
        (reason, message) => {
          const ending: Ending = { status: "failed", reason };
          expect(
            readGateMessage(bytes(writeGateMessage({ type: "ended", id: "cr_1", ending }))).type,
          ).toBe("ended");
          expect(
            readGateMessage(bytes(writeGateMessage({ type: "error", code: "closing", message })))
              .type,
          ).toBe("error");
        },
      ),
    );
    const reason = "\u{1f600}".repeat(2_001);
    expect(
      readGateMessage(
        bytes(
          writeGateMessage({
            type: "ended",
            id: "x",
            ending: { status: "failed", reason: `x${reason}` },
          }),
        ),
      ).type,
    ).toBe("ended");
  });

  it.each<[string, string]>([
    ["what is no JSON", "hello"],
    ["what is no object", "[]"],
    ["another type", '{"type":"please"}'],
    [
      "a duplicate key",
      '{"type":"hello","type":"hello","protocol":"acp-approve","version":1,"role":"approver"}',
    ],
    [
      "an unknown key",
      '{"type":"hello","protocol":"acp-approve","version":1,"role":"approver","sudo":true}',
    ],
    ["another role", '{"type":"hello","protocol":"acp-approve","version":1,"role":"root"}'],
    ["an answer without a number", '{"type":"answer","claim":{}}'],
    ["an answer whose claim is a text", '{"type":"answer","answer":1,"claim":"yes"}'],
    ["a gate's message", '{"type":"ended","id":"x","status":"approved","reason":""}'],
    ["two values", '{"type":"answer","answer":1,"claim":{}}{}'],
    ["an inherited type", '{"__proto__":{"type":"hello"}}'],
  ])("readClientMessage() refuses %s", (_what, line) => {
    expect(() => readClientMessage(bytes(line))).toThrow(
      expect.objectContaining({ name: "ConsentError" }),
    );
  });

  it.each([
    '{"type":"hello","protocol":"acp-approve","version":2,"role":"approver"}',
    '{"type":"hello","protocol":"other","version":1,"role":"approver"}',
  ])("readClientMessage() tells another version apart: %s", (line) => {
    expect(() => readClientMessage(bytes(line))).toThrow(
      expect.objectContaining({ code: "message_invalid", path: "version" }),
    );
  });

  it.each<[string, string]>([
    ["an unknown status", '{"type":"ended","id":"x","status":"fine","reason":""}'],
    [
      "an unknown refusal",
      '{"type":"receipt","answer":1,"status":"refused","code":"because","reason":""}',
    ],
    [
      "a request of another version",
      writeGateMessage({ type: "open", question: { request, redelivery: false } }).replace(
        "0.2.0",
        "0.3.0",
      ),
    ],
    ["a redelivery that is a text", '{"type":"open","request":{},"redelivery":"yes"}'],
    ["a client's message", '{"type":"answer","answer":1,"claim":{}}'],
  ])("readGateMessage() refuses %s", (_what, line) => {
    expect(() => readGateMessage(bytes(line))).toThrow(
      expect.objectContaining({ name: "ConsentError" }),
    );
  });

  it("readGateMessage() knows every refusal of the gate", () => {
    const codes: Readonly<Record<RefusalCode, true>> = {
      response_invalid: true,
      request_unknown: true,
      request_ended: true,
      nonce_mismatch: true,
      approver_unknown: true,
      approver_not_allowed: true,
      approver_too_early: true,
      already_answered: true,
      confirmation_required: true,
      question_not_shown: true,
      evidence_required: true,
      evidence_invalid: true,
      grant_not_offered: true,
      modification_invalid: true,
      modification_denied: true,
      rate_limited: true,
      store_failed: true,
      audit_failed: true,
    };
    for (const code of Object.keys(codes)) {
      expect(
        readGateMessage(
          bytes(`{"type":"receipt","answer":1,"status":"refused","code":"${code}","reason":""}`),
        ),
      ).toMatchObject({
        receipt: { code },
      });
    }
  });
});
