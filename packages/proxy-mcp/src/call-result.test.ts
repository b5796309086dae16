import type { Denied, Pending } from "@acp/core";
import { describe, expect, it } from "vitest";
import {
  deniedResult,
  invalidResult,
  type NoticeResult,
  pendingResult,
  unavailableResult,
} from "./call-result.js";

const texts = ({ content }: NoticeResult): readonly string[] => content.map(({ text }) => text);

describe("deniedResult()", () => {
  const denied: Denied = {
    decision: "deny",
    code: "rate_limited",
    reason: "too fast",
    remedy: "Wait",
    retryable: true,
    retryAfterMs: 1_500,
    requestId: "cr_1",
    ruleId: "r1",
  };

  it("says it in words, as JSON in a second block, and in _meta", () => {
    const result = deniedResult(denied);
    const data = {
      code: "rate_limited",
      reason: "too fast",
      remedy: "Wait",
      retryable: true,
      retryAfterMs: 1_500,
      requestId: "cr_1",
      ruleId: "r1",
    };
    expect(texts(result)).toEqual([
      "Not executed (rate_limited): too fast. Wait. The same call may succeed later, at the earliest after 2 s.",
      JSON.stringify(data),
    ]);
    expect(result).toMatchObject({ isError: true, _meta: { "acp/denied": data } });
    expect(Object.keys(result)).toEqual(["content", "isError", "_meta"]);
  });

  it("leaves out what the verdict does not say", () => {
    const result = deniedResult({
      decision: "deny",
      code: "policy_denied",
      reason: "no",
      remedy: "Choose another way",
      retryable: false,
    });
    expect(texts(result)).toEqual([
      "Not executed (policy_denied): no. Choose another way. The same call will fail again.",
      '{"code":"policy_denied","reason":"no","remedy":"Choose another way","retryable":false}',
    ]);
  });
});

describe("invalidResult()", () => {
  it("tells the model to correct the arguments", () => {
    expect(texts(invalidResult('"a" must be number'))[0]).toBe(
      'Not executed (arguments_invalid): "a" must be number. Correct the arguments, then call again. The same call will fail again.',
    );
  });
});

describe("unavailableResult()", () => {
  it("says whether the call may have taken effect", () => {
    const failure = { server: "fs", reason: 'Server "fs" exited with code 1' };
    expect(texts(unavailableResult(failure, true))[0]).toBe(
      'Sent, but not answered (server_unavailable): Server "fs" exited with code 1 after the call was sent to it; whether the call took effect is not known. Check what happened before calling again.',
    );
    expect(texts(unavailableResult(failure, false))[0]).toBe(
      'Not executed (server_unavailable): Server "fs" exited with code 1. The operator must check the server, then restart it. The same call will fail again.',
    );
  });

  it("tells when to call again, where the server comes back", () => {
    const failure = { server: "fs", reason: "gone", retryAfterMs: 4_000 };
    expect(texts(unavailableResult(failure, false))[0]).toBe(
      "Not executed (server_unavailable): gone. The server is being started again; wait, then repeat the call. The same call may succeed later, at the earliest after 4 s.",
    );
    // What may have taken effect is never said to be worth a repetition.
    const { _meta: meta } = unavailableResult(failure, true);
    expect(meta["acp/denied"]).toMatchObject({ retryable: false });
    expect(meta["acp/denied"]).not.toHaveProperty("retryAfterMs");
  });
});

describe("pendingResult()", () => {
  it("names the request and tells the model to call again", () => {
    const pending: Pending = {
      decision: "pending",
      requestId: "cr_9",
      expiresAtMs: 0,
      settled: Promise.reject(new Error("not read")),
      withdraw: async () => {},
      leave: async () => {},
      defer: async () => true,
    };
    pending.settled.catch(() => {});
    const result = pendingResult(pending);
    expect(texts(result)[0]).toBe(
      "Not executed yet (pending): a person was asked (cr_9) and has not answered yet. Tell the user that somebody has to answer it (acp inbox, or acp approve). Call again with the same arguments to wait on for the decision; other arguments would ask a new question. Do not try another way meanwhile.",
    );
    expect(result).toMatchObject({
      isError: true,
      _meta: {
        "acp/pending": {
          code: "pending",
          retryable: true,
          retryAfterMs: 10_000,
          requestId: "cr_9",
          expiresAt: "1970-01-01T00:00:00.000Z",
        },
      },
    });
    expect(JSON.parse(texts(result)[1] ?? "")).toEqual(Object.values(result._meta)[0]);
  });
});
