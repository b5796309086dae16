import { describe, expect, it } from "vitest";
import { parseConfig } from "./config.js";

const parse = (text: string): ReturnType<typeof parseConfig> =>
  parseConfig(`version: "1"\n${text}`, { homeDir: "/home/ada", cwd: "/etc/acp" });
const http = (text: string): string => `proxy: { http: { ${text} } }`;

describe("parseConfig(), proxy", () => {
  it("reads the HTTP proxy", () => {
    const config = parse(`proxy:
  http_port: 8788
  private_hosts: ["localhost:3000", 10.0.0.5, "[::1]:80"]
  http:
    agents:
      - { id: curl, token: 0123456789abcdef }
      - { id: "team/bob", token: "encrypted:abc", policy: bob.yml }
    attribution: x-agent-id
    require_sni: true
    upgrade_hosts: [ws.example.com]
    host_approval: site
`);
    expect(config).toMatchObject({
      httpPort: 8788,
      privateHosts: ["localhost:3000", "10.0.0.5", "[::1]:80"],
      http: {
        agents: [
          { id: "curl", token: "0123456789abcdef" },
          { id: "team/bob", token: "encrypted:abc", policyPath: "/etc/acp/bob.yml" },
        ],
        attribution: "x-agent-id",
        requireSni: true,
        upgradeHosts: ["ws.example.com"],
        hostApproval: "site",
      },
    });
  });

  it("names nothing where nothing is written", () => {
    const { httpPort, privateHosts, http: settings } = parse("proxy: {}");
    expect([httpPort, privateHosts, settings]).toEqual([undefined, undefined, undefined]);
  });

  it.each([
    ["a misspelt key", "proxy: { http_prt: 1 }", "did you mean http_port?"],
    ["a misspelt list", "proxy: { private_host: [] }", "did you mean private_hosts?"],
    ["a misspelt setting", http("require_snl: true"), "did you mean require_sni?"],
    ["another attribution", http("attribution: x-agentid"), "did you mean x-agent-id?"],
    ["a flag that is a text", http("require_sni: 'true'"), "true or false"],
    ["no agent", http("agents: []"), "it lists no agent"],
    ["an agent without a token", http("agents: [{ id: a }]"), '"token" is missing'],
    ["an agent with an empty token", http("agents: [{ id: a, token: '' }]"), "the string is empty"],
    [
      "an id with a colon",
      http("agents: [{ id: 'a:b', token: hunter2 }]"),
      "without spaces and colons",
    ],
    [
      "an agent twice",
      http("agents: [{ id: a, token: hunter2 }, { id: a, token: hunter3 }]"),
      'another agent has the id "a"',
    ],
    ["a pattern of hosts", "proxy: { private_hosts: ['*.internal'] }", "expected a host"],
    ["a network", "proxy: { private_hosts: [10.0.0.0/8] }", "expected a host"],
    ["a URL", "proxy: { private_hosts: ['http://localhost'] }", "expected a host"],
    ["a port beyond all", "proxy: { private_hosts: ['localhost:70000'] }", "expected a host"],
    ["a number", "proxy: { private_hosts: [3000] }", "string"],
  ])("refuses %s, with its place and no token", (_, text, message) => {
    const expected = {
      code: "config_invalid",
      message: expect.stringContaining(message),
      position: expect.anything(),
    };
    expect(() => parse(text)).toThrow(expect.objectContaining(expected));
    expect(() => parse(text)).not.toThrow("hunter");
  });
});
