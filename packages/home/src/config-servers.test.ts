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
