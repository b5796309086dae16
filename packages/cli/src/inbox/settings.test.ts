import { describe, expect, it } from "vitest";
import { localApprover, readPasskeyFrom, readPlace } from "./settings.js";

const invalid = (code: string, text: string): unknown =>
  expect.objectContaining({ code, message: expect.stringContaining(text) as unknown });

describe("readPlace()", () => {
  it("is loopback and one port, unless something else is said", () => {
    expect(readPlace({ values: {} })).toEqual({
      port: 8789,
      isPortMeant: false,
      socketPath: undefined,
      origin: undefined,
    });
    expect(readPlace({ values: { port: "0", origin: "https://inbox.example.com" } })).toEqual({
      port: 0,
      isPortMeant: true,
      socketPath: undefined,
      origin: "https://inbox.example.com",
    });
    expect(
      readPlace({ values: { socket: "/run/i.sock", origin: "https://inbox.example.com" } }),
    ).toMatchObject({
      socketPath: "/run/i.sock",
    });
  });

  it.each([
    [{ socket: "/run/i.sock" }, "--origin"],
    [{ origin: "http://localhost:8789" }, "https"],
    [{ socket: "/run/i.sock", port: "1", origin: "https://inbox.example.com" }, "--port"],
    [{ port: "65536" }, "--port"],
  ])("refuses %j", (values, text) => {
    expect(() => readPlace({ values })).toThrow(invalid("options_invalid", text));
  });
});

describe("readPasskeyFrom()", () => {
  it("is high, or the level that is named", () => {
    expect([undefined, "low", "rules-only"].map(readPasskeyFrom)).toEqual([
      "high",
      "low",
      "rules-only",
    ]);
  });

  it.each(["", "none", "HIGH"])("knows no level %j", (text) => {
    expect(() => readPasskeyFrom(text)).toThrow(invalid("options_invalid", "--passkey-from"));
  });
});

describe("localApprover()", () => {
  it("is local where nobody is named, else who answers on the approve socket", () => {
    expect(localApprover(undefined)).toBe("local");
    expect(localApprover({})).toBe("local");
    const approvers = [
      { id: "bob", channel: "telegram", subject: "local" },
      { id: "eve", channel: "terminal", subject: "4711" },
      { id: "ada", channel: "terminal", subject: "local" },
    ];
    expect(localApprover({ approvers })).toBe("ada");
  });

  it.each([[[]], [[{ id: "bob", channel: "telegram", subject: "local" }]]])(
    "is nobody where %j are named",
    (approvers) => {
      expect(() => localApprover({ approvers })).toThrow(invalid("config_invalid", "names nobody"));
    },
  );
});
