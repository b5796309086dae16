import { describe, expect, it } from "vitest";
import { type InternalService, isInternalHost, readInternal, serviceFor } from "./internal.js";
import { RefusedError } from "./refusals.js";

const service: InternalService = () => {};
const target = { host: "mcp.acp.internal", port: 1 };
const inside = { caller: { agent: { id: "a" } } };

describe("isInternalHost()", () => {
  it.each([
    ["acp.internal", true],
    ["mcp.acp.internal", true],
    ["a.b.acp.internal", true],
    ["xacp.internal", false],
    ["acp.internal.example.com", false],
    ["internal", false],
  ])("%s: %s", (host, expected) => {
    expect(isInternalHost(host)).toBe(expected);
  });
});

describe("readInternal()", () => {
  it("finds a service by exactly its name and port, in any spelling", () => {
    const find = readInternal({ "MCP.ACP.internal.:1": service });
    expect(find(target)).toBe(service);
    expect(find({ ...target, port: 2 })).toBeUndefined();
    expect(find({ ...target, host: "x.mcp.acp.internal" })).toBeUndefined();
  });

  it("has no service under the names that every object has", () => {
    expect(readInternal({})({ host: "constructor", port: 1 })).toBeUndefined();
  });

  it.each([
    ["mcp.acp.internal", "not host:port"],
    ["acp.internal:1", "not below acp.internal"],
    ["example.com:1", "not below acp.internal"],
    ["*.acp.internal:1", "no host has"],
    ["", "not host:port"],
  ])("throws for %j", (key, why) => {
    expect(() => readInternal({ [key]: service })).toThrow(
      expect.objectContaining({ code: "options_invalid", message: expect.stringContaining(why) }),
    );
  });

  it("throws for two spellings of one place", () => {
    expect(() =>
      readInternal({ "a.acp.internal:1": service, "A.acp.internal.:1": service }),
    ).toThrow("twice");
  });
});

describe("serviceFor()", () => {
  const find = readInternal({ "mcp.acp.internal:1": service });

  it("gives the service to a CONNECT of an agent's own connection", () => {
    expect(serviceFor(find, { target, method: "CONNECT", connection: inside })).toBe(service);
  });

  it.each([
    ["another method", { target, method: "GET", connection: inside }, "only with CONNECT"],
    [
      "a connection that was accepted",
      { target, method: "CONNECT", connection: { caller: undefined } },
      "inside a sandbox",
    ],
    [
      "another port",
      { target: { ...target, port: 2 }, method: "CONNECT", connection: inside },
      "no service",
    ],
    [
      "another name",
      { target: { host: "x.acp.internal", port: 1 }, method: "CONNECT", connection: inside },
      "no service",
    ],
  ])("refuses %s", (_, visit, why) => {
    const run = (): unknown => serviceFor(find, visit);
    expect(run).toThrow(RefusedError);
    expect(run).toThrow(
      expect.objectContaining({
        refusal: expect.objectContaining({ code: "service_refused", status: 403 }),
        message: expect.stringContaining(why),
      }),
    );
  });
});
