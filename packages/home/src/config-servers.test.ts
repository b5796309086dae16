import { describe, expect, it } from "vitest";
import type { CommandServer } from "./config-servers.js";
import { parseConfig } from "./config.js";

const parse = (rest: string): CommandServer | undefined => {
  const text = `version: "1"\nproxy: { upstream_servers: [{ name: a, command: x, ${rest} }] }\n`;
  const [server] = parseConfig(text, { homeDir: "/home/ada", cwd: "/home/ada/.acp" }).servers;
  return server !== undefined && "command" in server ? server : undefined;
};

describe("what a server may see", () => {
  it("is read as it is written, with paths from where the file is", () => {
    expect(
      parse(
        "workspace: read, read: [~/docs, /srv], write: [out], network: [api.example, 'localhost:5432', '[::1]:80']",
      ),
    ).toEqual({
      name: "a",
      command: ["x"],
      workspace: "read",
      read: ["/home/ada/docs", "/srv"],
      write: ["/home/ada/.acp/out"],
      network: ["api.example", "localhost:5432", "[::1]:80"],
    });
    expect(parse("sandbox: none")).toEqual({ name: "a", command: ["x"], sandbox: "none" });
    expect(parse("sandbox: auto, network: []")).toMatchObject({ sandbox: "auto", network: [] });
  });

  it.each([
    ["another sandbox", "sandbox: nothing", "expected auto or none"],
    ["a misspelt key", "netwrok: []", "did you mean network?"],
    ["a flag", "workspace: true", "expected read or write"],
    ["another access", "workspace: readonly", "expected read or write"],
    ["a pattern of hosts", "network: ['*.example']", "expected a host"],
    ["a URL", "network: ['https://a.example']", "expected a host"],
    ["one path that is no list", "read: /srv", "list"],
    [
      "too many paths",
      `read: [${Array.from({ length: 65 }, () => "/srv").join(", ")}]`,
      "more than 64",
    ],
    ["limits of no sandbox", "sandbox: none, network: [a.example]", '"network" limits a sandbox'],
  ])("is refused for %s", (_name, rest, message) => {
    const expected = { code: "config_invalid", message: expect.stringContaining(message) };
    expect(() => parse(rest)).toThrow(expect.objectContaining(expected));
  });
});

describe("what a server may take", () => {
  it("is read in the units of the proxy, of both kinds of server", () => {
    const text =
      "max_result_megabytes: 50, call_timeout_seconds: 30, max_calls: 4, start_timeout_seconds: 90";
    const limits = {
      messageBytesMax: 50 * 1024 * 1024,
      callTimeoutMs: 30_000,
      callsMax: 4,
      startTimeoutMs: 90_000,
    };
    expect(parse(text)).toEqual({ name: "a", command: ["x"], limits });
    expect(parse("max_calls: 1")).toEqual({ name: "a", command: ["x"], limits: { callsMax: 1 } });
    const { servers } = parseConfig(
      `version: "1"\nproxy: { upstream_servers: [{ name: a, url: "https://a.example/", ${text} }] }\n`,
      { homeDir: "/home/ada", cwd: "/home/ada/.acp" },
    );
    expect(servers).toEqual([{ name: "a", url: "https://a.example/", limits }]);
  });

  it.each([
    ["max_result_megabytes: 0"],
    ["max_result_megabytes: 257"],
    ["max_result_megabytes: .nan"],
    ["call_timeout_seconds: 0.5"],
    ["call_timeout_seconds: '30'"],
    ["start_timeout_seconds: 86401"],
    ["max_calls: .inf"],
    ["max_calls: -1"],
  ])("is refused where it is none: %s", (rest) => {
    expect(() => parse(rest)).toThrow(expect.objectContaining({ code: "config_invalid" }));
  });
});

describe("a server that clients share", () => {
  it("is one where the file says so", () => {
    expect(parse("shared: true")).toEqual({ name: "a", command: ["x"], shared: true });
    expect(parse("shared: true, sandbox: none, cwd: /srv")).toMatchObject({ shared: true });
  });

  it.each([
    ["in a sandbox", "shared: true, sandbox: auto", "a server in a sandbox is not shared"],
    ["for what is no flag", "shared: yes please", "shared"],
  ])("is refused %s", (_name, rest, message) => {
    const expected = { code: "config_invalid", message: expect.stringContaining(message) };
    expect(() => parse(rest)).toThrow(expect.objectContaining(expected));
  });
});

describe("a server at an address", () => {
  const origins = { homeDir: "/home/ada", cwd: "/home/ada/.acp" };
  const read = (rest: string): unknown =>
    parseConfig(`version: "1"\nproxy: { upstream_servers: [{ name: a, ${rest} }] }\n`, origins)
      .servers[0];

  it("has an address, and headers that are sent with every request", () => {
    expect(read('url: "https://a.example/mcp"')).toEqual({
      name: "a",
      url: "https://a.example/mcp",
    });
    expect(read('url: "https://a.example/mcp", headers: { Authorization: x }')).toEqual({
      name: "a",
      url: "https://a.example/mcp",
      headers: { Authorization: "x" },
    });
  });

  it.each([
    ["a header without an address", "command: x, headers: { A: b }", "url"],
    ["a command beside it", 'url: "https://a.example", command: x', "command"],
    ["an environment", 'url: "https://a.example", env: { A: b }', "command"],
    ["a header of MCP's own", 'url: "https://a.example", headers: { Mcp-Session-Id: x }', "own"],
    ["the host", 'url: "https://a.example", headers: { host: x }', "own"],
    ["no name of a header", 'url: "https://a.example", headers: { "a b": x }', "letters"],
    ["a password in it", 'url: "https://u:p@a.example"', "password"],
  ])("has no %s", (_what, rest, text) => {
    expect(() => read(rest)).toThrow(
      expect.objectContaining({
        code: "config_invalid",
        message: expect.stringContaining(text) as string,
      }),
    );
  });
});
