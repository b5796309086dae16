import { describe, expect, it } from "vitest";
import { isPasskeyOrigin } from "./passkey-origin.js";

const home = { rpId: "k3v9.localhost", origins: ["http://*.k3v9.localhost"] };
const exact = { rpId: "inbox.example.com", origins: ["https://inbox.example.com"] };

describe("isPasskeyOrigin()", () => {
  it.each([
    "http://x7f2.k3v9.localhost:8789",
    "http://other.k3v9.localhost",
    "http://a-1.k3v9.localhost:1",
  ])("counts %s", (origin) => {
    expect(isPasskeyOrigin(home, origin)).toBe(true);
  });

  it.each([
    "http://k3v9.localhost:8789",
    "http://localhost:8789",
    "https://x7f2.k3v9.localhost:8789",
    "http://x7f2.other.localhost:8789",
    "http://a.b.k3v9.localhost",
    "http://xk3v9.localhost",
    "http://x7f2.k3v9.localhost.evil.example",
    "http://x7f2.k3v9.localhost/",
    "http://X.k3v9.localhost",
    "http://*.k3v9.localhost",
    "null",
    "",
  ])("does not count %s", (origin) => {
    expect(isPasskeyOrigin(home, origin)).toBe(false);
  });

  it("takes an exact origin as it stands, and no pattern of another domain", () => {
    expect(isPasskeyOrigin(exact, "https://inbox.example.com")).toBe(true);
    expect(isPasskeyOrigin(exact, "https://a.inbox.example.com")).toBe(false);
    expect(
      isPasskeyOrigin({ ...exact, origins: ["https://*.example.com"] }, "https://evil.example.com"),
    ).toBe(false);
    expect(isPasskeyOrigin({ ...exact, origins: [] }, "https://inbox.example.com")).toBe(false);
  });
});
