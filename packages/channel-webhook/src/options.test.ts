import { describe, expect, it } from "vitest";
import { readOptions } from "./options.js";

const url = "https://receiver.example/acp";
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

describe("readOptions()", () => {
  it("takes the least there is", () => {
    expect(readOptions({ url, secret })).toMatchObject({
      approvers: undefined,
      linkBase: undefined,
      sendParts: { timeoutMs: 30_000 },
    });
  });

  it("keeps each approver once, and an empty list empty", () => {
    expect(readOptions({ url, secret, approvers: ["a", "b", "a"] }).approvers).toEqual(["a", "b"]);
    expect(readOptions({ url, secret, approvers: [] }).approvers).toEqual([]);
  });

  it.each([
    ["https://gate.example/acp", "https://gate.example/acp/"],
    ["https://gate.example/acp/", "https://gate.example/acp/"],
    ["https://gate.example", "https://gate.example/"],
    ["https://gate.internal:8443/a/b", "https://gate.internal:8443/a/b/"],
    ["http://localhost:8080/acp", "http://localhost:8080/acp/"],
    ["https://10.0.0.5/acp", "https://10.0.0.5/acp/"],
  ])("links below %s", (linkUrl, base) => {
    expect(readOptions({ url, secret, linkUrl }).linkBase).toBe(base);
  });

  const refused: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    ["no URL", { url: undefined }],
    ["plain http", { url: "http://receiver.example/" }],
    ["no secret", { secret: undefined }],
    ["a secret that is none", { secret: "hunter2" }],
    ["approvers as a text", { approvers: "alice" }],
    ["an approver without a name", { approvers: [""] }],
    ["an approver that is a number", { approvers: [7] }],
    ["an approver with too long a name", { approvers: ["a".repeat(257)] }],
    ["too many approvers", { approvers: Array.from({ length: 1_001 }, (_, at) => `a${at}`) }],
    ["pages over plain http", { linkUrl: "http://gate.example/acp" }],
    ["pages with a query", { linkUrl: "https://gate.example/acp?x=1" }],
    ["no time", { timeoutMs: 0 }],
    ["time that is no number", { timeoutMs: Number.NaN }],
    ["more than an hour", { timeoutMs: 3_600_001 }],
    ["a private host that is no host", { allowPrivateHosts: ["http://inside/"] }],
  ];

  it.each(refused)("refuses %s", (_name, changes) => {
    const read = (): unknown =>
      Reflect.apply(readOptions, undefined, [{ url, secret, ...changes }]);
    expect(read).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^(?:options|host)_invalid$/) }),
    );
    expect(read).toThrow(/^Cannot /);
    expect(read).not.toThrow(/hunter2/);
  });

  it("lets who listens to warnings break nothing", () => {
    const { sendParts } = readOptions({
      url,
      secret,
      warn: () => {
        throw new Error("broken");
      },
    });
    expect(() => sendParts.warn("text")).not.toThrow();
  });
});
