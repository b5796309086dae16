/**
 * Rules of one agent's uid as text for `nft -f`: to the proxy's port on 127.0.0.1 and nowhere else,
 * over IPv4 and IPv6, in and out. Pure. One file is one transaction: nftables takes all of it or
 * nothing. Loaded by nft.ts. Why no rule for DNS: docs/adr/0071-*.md.
 */
import { isIP } from "node:net";
import { ConsentError, quoteText } from "@acp/core";

/**
 * A cgroup as a rule names it: nft resolves the path under /sys/fs/cgroup, the kernel counts the
 * level from the root of the hierarchy.
 */
export interface CgroupName {
  readonly path: string;
  readonly level: number;
}

/** Whose rules, and what is left open. */
export interface UidRules {
  /** {@link makeTableName}. */
  readonly table: string;
  readonly uid: number;
  /** The proxy's port on 127.0.0.1. */
  readonly port: number;
  /**
   * Matched besides the uid: a socket keeps its cgroup when its process is another uid by then, or
   * gone.
   */
  readonly cgroup: CgroupName | undefined;
  /** Name servers that may be asked on port 53; empty unless the rule of S1 §2.2 was asked for. */
  readonly nameServers: readonly string[];
}

const TABLE = /^acp_(?<uid>\d{1,10})_(?<session>[0-9a-f_]{1,80})$/u;
const UID_MAX = 0xffff_fffe; // the last one means "nobody is meant"

/**
 * Name of the table of one agent: holds the uid and the session, so that the next start knows whose
 * a leftover is.
 */
export function makeTableName(uid: number, session: string): string {
  const name = `acp_${uid}_${session.replaceAll("-", "_")}`;
  if (parseTableName(name) === undefined) throw cannot(name, "the session's name does not fit");
  return name;
}

/** The uid in a table's name; `undefined` where it is not one of ours. */
export function parseTableName(name: string): { readonly uid: number } | undefined {
  const uid = TABLE.exec(name)?.groups?.["uid"];
  return uid === undefined || Number(uid) > UID_MAX ? undefined : { uid: Number(uid) };
}

/**
 * The rules. A table of that name is replaced in the same transaction.
 *
 * @throws ConsentError `options_invalid` for a value that could be read as more than one word of
 *   the language.
 */
export function makeUidRules({ table, uid, port, cgroup, nameServers }: UidRules): string {
  if (parseTableName(table)?.uid !== uid || uid === 0)
    throw cannot(table, `it is not the table of uid ${uid}`);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw cannot(table, `${port} is not a port`);
  const inCgroup = cgroup === undefined ? undefined : matchCgroup(table, cgroup);
  // The names are our own, never nft's keywords. Order counts: whoever is not the agent and opens a
  // connection to its proxy is refused.
  return [
    `table inet ${table}`,
    `delete table inet ${table}`,
    `table inet ${table} {`,
    ...chain("leaving", [
      "type filter hook output priority -10; policy accept;",
      `meta skuid ${uid} goto agent_sends`,
      ...(inCgroup === undefined ? [] : [`${inCgroup} goto agent_sends`]),
      `ip daddr 127.0.0.1 tcp dport ${port} tcp flags & (fin | syn | rst | ack) == syn reject with tcp reset`,
    ]),
    ...chain("agent_sends", [
      `oifname "lo" ip daddr 127.0.0.1 tcp dport ${port} accept`,
      ...nameServerRules(table, nameServers, "d"),
      // A reset is heard at once; an ICMP error reaches a socket that is still in its call to
      // connect, and is heard at the next try, after a second.
      "meta l4proto tcp reject with tcp reset",
      "reject with icmpx admin-prohibited",
    ]),
    ...chain("arriving", [
      "type filter hook input priority -10; policy accept;",
      `iifname != "lo" ip daddr 127.0.0.1 tcp dport ${port} drop`,
      ...(inCgroup === undefined ? [] : [`${inCgroup} goto agent_receives`]),
    ]),
    ...(inCgroup === undefined
      ? []
      : chain("agent_receives", [
          `iifname "lo" ip saddr 127.0.0.1 tcp sport ${port} accept`,
          ...nameServerRules(table, nameServers, "s"),
          // What tells a program that it was refused.
          'iifname "lo" tcp flags & rst == rst accept',
          "icmp type destination-unreachable accept",
          "icmpv6 type destination-unreachable accept",
          "drop",
        ])),
    "}",
    "",
  ].join("\n");
}

function chain(name: string, lines: readonly string[]): readonly string[] {
  return [`  chain ${name} {`, ...lines.map((line) => `    ${line}`), "  }"];
}

function matchCgroup(table: string, { path, level }: CgroupName): string {
  // nft has no escapes inside quotes.
  if (!/^[^"\p{Cc}]{1,1000}$/u.test(path))
    throw cannot(table, `the cgroup's path ${quoteText(path)} cannot be written in it`);
  if (!Number.isInteger(level) || level < 1 || level > 255)
    throw cannot(table, `${level} is not the level of a cgroup`);
  return `socket cgroupv2 level ${level} "${path}"`;
}

function nameServerRules(
  table: string,
  servers: readonly string[],
  side: "d" | "s",
): readonly string[] {
  return servers.map((address) => {
    const version = isIP(address);
    if (version === 0 || address.includes("%"))
      throw cannot(table, `${quoteText(address)} is not the address of a name server`);
    return `${version === 4 ? "ip" : "ip6"} ${side}addr ${address} meta l4proto { tcp, udp } th ${side}port 53 accept`;
  });
}

function cannot(table: string, why: string): ConsentError {
  return new ConsentError(
    "options_invalid",
    `Cannot make rules for table ${quoteText(table)}: ${why}`,
  );
}
