import { describe, expect, it } from "vitest";
import { memoryPasskeys } from "./memory-passkeys.js";
import { readOptions } from "./options.js";
import type { InboxOptions } from "./inbox-options.js";

const good: InboxOptions = {
  origin: "http://localhost:8789",
  people: [{ approver: "ada" }],
  passkeys: memoryPasskeys(),
};

describe("readOptions()", () => {
  it("completes what is left out: passkeys from high on, the approver id as subject", () => {
    const settings = readOptions(good);
    expect(settings).toMatchObject({
      host: "localhost:8789",
      rpId: "localhost",
      isSecure: false,
      passkeyFrom: "high",
    });
    expect(settings.people.get("ada")).toEqual({ approver: "ada", subject: "ada" });
  });

  it.each([
    "https://inbox.example.com",
    "https://inbox.example.com:8443",
    "http://inbox.localhost:8789",
  ])("takes the origin %s", (origin) => {
    expect(readOptions({ ...good, origin }).origin).toBe(origin);
    expect(readOptions({ ...good, origin }).isSecure).toBe(origin.startsWith("https:"));
  });

  it.each([
    ["no origin", { origin: "localhost" }],
    ["an origin with a path", { origin: "https://inbox.example.com/acp" }],
    ["an origin with a slash", { origin: "https://inbox.example.com/" }],
    ["http elsewhere", { origin: "http://inbox.example.com" }],
    ["http to an IPv4 address", { origin: "http://127.0.0.1:8789" }],
    ["https to an IPv4 address", { origin: "https://192.0.2.7" }],
    ["https to an IPv6 address", { origin: "https://[::1]" }],
    ["another scheme", { origin: "file://localhost" }],
    ["an empty approver id", { people: [{ approver: "" }] }],
    ["an empty subject", { people: [{ approver: "ada", subject: "" }] }],
    ["an approver id that is too long", { people: [{ approver: "a".repeat(257) }] }],
    ["an approver id twice", { people: [{ approver: "ada" }, { approver: "ada", subject: "x" }] }],
    ["a subject twice", { people: [{ approver: "ada" }, { approver: "bob", subject: "ada" }] }],
    ["people who are no list", { people: "ada" }],
    ["no store of passkeys", { passkeys: {} }],
    ["no passkeys at all", { passkeys: undefined }],
    ["an unknown level", { passkeyFrom: "extreme" }],
  ])("refuses %s", (_what, wrong) => {
    expect(() => readOptions({ ...good, ...(wrong as Partial<InboxOptions>) })).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });

  it("survives a listener that throws", () => {
    const warn = (): never => {
      throw new Error("no");
    };
    expect(() => readOptions({ ...good, warn }).warn("x")).not.toThrow();
  });
});

describe("readOptions() rpId", () => {
  const fresh = "http://x7f2.k3v9.localhost:8789";

  it("is the origin's own name, where passkeys count at that origin alone", () => {
    expect(readOptions({ ...good, origin: fresh })).toMatchObject({
      rpId: "x7f2.k3v9.localhost",
      passkeyOrigin: fresh,
    });
  });

  it("may be a name above it, where they count at every name right below", () => {
    expect(readOptions({ ...good, origin: fresh, rpId: "k3v9.localhost" })).toMatchObject({
      rpId: "k3v9.localhost",
      passkeyOrigin: "http://*.k3v9.localhost",
    });
  });

  it.each(["localhost", "9.localhost", "evil.example", "", "com"])("is not %j", (rpId) => {
    expect(() => readOptions({ ...good, origin: fresh, rpId })).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });
});
