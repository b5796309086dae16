import { describe, expect, it } from "vitest";
import {
  COMMAND_CHARS_MAX,
  decodeMessage,
  encodeMessage,
  isDeviceId,
  MESSAGE_BYTES_MAX,
} from "./codec.js";
import type { ExecApprovalRequestPayload, Message } from "./protocol.js";

const payload: ExecApprovalRequestPayload = {
  approvalId: "019444a0-1234-7abc-8000-abcdef123456",
  agentId: "agent",
  command: "ls",
  riskLevel: "safe",
  riskReasons: [],
  expiresAtMs: 1,
};
const ask = (more: Partial<ExecApprovalRequestPayload> = {}): Message => ({
  id: "m",
  from: "hub",
  to: "phone",
  action: "exec-approval-request",
  payload: { ...payload, ...more },
});

describe("encodeMessage()", () => {
  it("writes the document's keys in the document's order", () => {
    const turned = {
      payload: { ...payload, cwd: "/p" },
      action: "exec-approval-request",
      to: "phone",
      from: "hub",
      id: "m",
    } as const;
    expect(encodeMessage(turned)).toBe(
      '{"id":"m","from":"hub","to":"phone","action":"exec-approval-request","payload":{"approvalId":"019444a0-1234-7abc-8000-abcdef123456",' +
        '"agentId":"agent","command":"ls","cwd":"/p","riskLevel":"safe","riskReasons":[],"expiresAtMs":1}}',
    );
  });

  it.each([
    ["a key that no message has", { ...ask(), more: 1 }, "message_invalid"],
    ["half of a surrogate pair", ask({ command: "\ud800" }), "json_lone_surrogate"],
    [
      "a command that is too long",
      ask({ command: "x".repeat(COMMAND_CHARS_MAX + 1) }),
      "message_invalid",
    ],
    ["an expiry that is no number", ask({ expiresAtMs: Number.NaN }), "json_not_data"],
    [
      "an integer that readers read differently",
      {
        id: "m",
        from: "phone",
        to: "hub",
        action: "request",
        payload: { requestId: "r", method: "m", params: { n: 2 ** 53 } },
      } as const,
      "json_unsafe_integer",
    ],
    [
      "a value that is computed",
      Object.defineProperty({ ...ask() }, "to", { get: () => "phone", enumerable: true }),
      "json_not_data",
    ],
  ])("does not write %s", (_name, message, code) => {
    expect(() => encodeMessage(message)).toThrow(expect.objectContaining({ code }));
  });

  it("does not write more than its own reader takes", () => {
    const riskReasons = Array.from({ length: 300 }, () => "é".repeat(2_000));
    expect(() => encodeMessage(ask({ riskReasons }))).toThrow(
      expect.objectContaining({ code: "json_too_large" }),
    );
  });

  it("has room for the longest command, whatever is in it", () => {
    const command = "\u0001".repeat(COMMAND_CHARS_MAX);
    const text = encodeMessage(
      ask({ command, riskReasons: Array.from({ length: 8 }, () => "r".repeat(4_096)) }),
    );
    expect(Buffer.byteLength(text)).toBeLessThan(MESSAGE_BYTES_MAX);
    expect(decodeMessage(text)).toMatchObject({ payload: { command } });
  });
});

describe("decodeMessage()", () => {
  it("refuses a text that is too large before it reads it", () => {
    expect(() => decodeMessage(" ".repeat(MESSAGE_BYTES_MAX + 1))).toThrow(
      expect.objectContaining({ code: "json_too_large" }),
    );
  });

  it("reads no call of more than 16 KiB, spaces counted, and writes none", () => {
    const call = (note: string): Message => ({
      id: "m",
      from: "phone",
      to: "hub",
      action: "request",
      payload: { requestId: "r", method: "m", params: { note } },
    });
    const room = 16 * 1024 - Buffer.byteLength(encodeMessage(call("")));
    const text = encodeMessage(call("x".repeat(room)));
    expect(decodeMessage(text)).toMatchObject({ action: "request" });
    const refused = expect.objectContaining({ code: "message_invalid", path: "message" });
    expect(() => decodeMessage(`${text} `)).toThrow(refused);
    expect(() => decodeMessage(Buffer.from(`${text} `))).toThrow(refused);
    expect(() => encodeMessage(call("x".repeat(room + 1)))).toThrow(refused);
  });

  it("reads bytes as it reads text, and no bytes that are not UTF-8", () => {
    expect(decodeMessage(Buffer.from(encodeMessage(ask())))).toEqual(ask());
    expect(() => decodeMessage(Buffer.from([0x22, 0xff, 0x22]))).toThrow(
      expect.objectContaining({ code: "json_invalid" }),
    );
  });

  it("takes no key from a prototype", () => {
    const text =
      '{"__proto__":{"id":"m"},"from":"hub","to":"phone","action":"request","payload":{}}';
    expect(() => decodeMessage(text)).toThrow(expect.objectContaining({ path: "message.id" }));
  });
});

describe("isDeviceId()", () => {
  it.each(["a", "<hubDeviceId>", "x".repeat(128)])("takes %s", (id) =>
    expect(isDeviceId(id)).toBe(true),
  );
  it.each(["", "a b", "é", "a\n", "x".repeat(129)])("does not take %j", (id) =>
    expect(isDeviceId(id)).toBe(false),
  );
});
