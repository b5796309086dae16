import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { hostNeed } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { makeTableName, makeUidRules, parseTableName } from "./nft-rules.js";
import type { UidRules } from "./nft-rules.js";

const TABLE = "acp_61000_0123_ab";
const RULES: UidRules = {
  table: TABLE,
  uid: 61_000,
  port: 18_080,
  cgroup: undefined,
  nameServers: [],
};
/** nft looks a cgroup up: it has to be one that there is. */
const CGROUP = readdirSync("/sys/fs/cgroup", { withFileTypes: true }).find((entry) =>
  entry.isDirectory(),
)?.name;

/**
 * A network namespace of its own, as root or as an ordinary user: the machine's rules are out of
 * reach.
 */
const ALONE = process.getuid?.() === 0 ? ["-n"] : ["-Urn"];
const nft = hostNeed("nft in a network namespace", () => {
  execFileSync("unshare", [...ALONE, "nft", "list", "tables"], { stdio: "pipe" });
  return undefined;
});

function check(rules: string): { readonly code: number | null; readonly stderr: string } {
  const { status, stderr } = spawnSync("unshare", [...ALONE, "nft", "-c", "-f", "-"], {
    input: rules,
    encoding: "utf8",
  });
  return { code: status, stderr };
}

describe("makeUidRules()", () => {
  it("accepts the proxy's port for the agent and rejects the rest, when nothing else is asked for", () => {
    expect(makeUidRules(RULES)).toBe(`table inet acp_61000_0123_ab
delete table inet acp_61000_0123_ab
table inet acp_61000_0123_ab {
  chain leaving {
    type filter hook output priority -10; policy accept;
    meta skuid 61000 goto agent_sends
    ip daddr 127.0.0.1 tcp dport 18080 tcp flags & (fin | syn | rst | ack) == syn reject with tcp reset
  }
  chain agent_sends {
    oifname "lo" ip daddr 127.0.0.1 tcp dport 18080 accept
    meta l4proto tcp reject with tcp reset
    reject with icmpx admin-prohibited
  }
  chain arriving {
    type filter hook input priority -10; policy accept;
    iifname != "lo" ip daddr 127.0.0.1 tcp dport 18080 drop
  }
}
`);
  });

  it("matches the cgroup in both directions when there is one", () => {
    const text = makeUidRules({ ...RULES, cgroup: { path: "unified/a/acp-1", level: 2 } });
    expect(text).toContain('socket cgroupv2 level 2 "unified/a/acp-1" goto agent_sends');
    expect(text).toContain('socket cgroupv2 level 2 "unified/a/acp-1" goto agent_receives');
  });

  it("opens port 53 of the named servers, and of no other, when DNS is asked for", () => {
    const text = makeUidRules({ ...RULES, nameServers: ["127.0.0.53", "2001:db8::1"] });
    expect(text.split("\n").filter((line) => line.includes("53 accept"))).toEqual([
      "    ip daddr 127.0.0.53 meta l4proto { tcp, udp } th dport 53 accept",
      "    ip6 daddr 2001:db8::1 meta l4proto { tcp, udp } th dport 53 accept",
    ]);
  });

  it.runIf(nft.run).each<[string, Partial<UidRules>]>([
    ["nothing more", {}],
    ["a cgroup", { cgroup: { path: CGROUP ?? "", level: 1 } }],
    ["name servers", { nameServers: ["127.0.0.53", "192.0.2.1", "2001:db8::1"] }],
    [
      "both",
      { cgroup: { path: CGROUP ?? "", level: 3 }, nameServers: ["192.0.2.1", "2001:db8::1"] },
    ],
  ])("gives what this kernel takes, with %s", (_, more) => {
    expect(check(makeUidRules({ ...RULES, ...more }))).toEqual({ code: 0, stderr: "" });
  });

  it.runIf(nft.run)(
    "would be refused by this kernel when it were wrong: the check above can fail",
    () => {
      expect(check(makeUidRules(RULES).replace("accept;", "maybe;")).code).not.toBe(0);
    },
  );

  it.each<[string, Partial<UidRules>]>([
    ["another uid's table", { uid: 61_001 }],
    ["root", { table: "acp_0_ab", uid: 0 }],
    ["a port that is none", { port: 0 }],
    ["a port with a fraction", { port: 80.5 }],
    ["a table that ends the line", { table: "acp_61000_ab\n" }],
    ["a cgroup that ends its quotes", { cgroup: { path: 'a" accept #', level: 1 } }],
    ["a cgroup with a newline", { cgroup: { path: "a\nb", level: 1 } }],
    ["a cgroup at the root", { cgroup: { path: "unified", level: 0 } }],
    ["a name server that is a set", { nameServers: ["0.0.0.0/0"] }],
    ["a name server with a zone", { nameServers: ["fe80::1%eth0"] }],
    ["a name server that is a name", { nameServers: ["ns.test"] }],
  ])("refuses %s", (_, more) => {
    expect(() => makeUidRules({ ...RULES, ...more })).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });
});

describe("makeTableName()", () => {
  it("holds the uid and the session, as parseTableName() reads them", () => {
    const name = makeTableName(61_000, "4026531836-12-345-0011aabb");
    expect(name).toBe("acp_61000_4026531836_12_345_0011aabb");
    expect(parseTableName(name)).toEqual({ uid: 61_000 });
  });

  it("refuses a session whose name does not fit", () => {
    expect(() => makeTableName(61_000, "a; flush ruleset")).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });
});

describe("parseTableName()", () => {
  it.each([
    "filter",
    "acp_x_ab",
    "acp_1_",
    "acp_4294967295_ab",
    "acp_1_ab ",
    "xacp_1_ab",
    "acp_1_ab\nx",
  ])("knows that %j is not ours", (name) => {
    expect(parseTableName(name)).toBeUndefined();
  });
});
