/**
 * Addresses: the IP addresses at which a host may be reached. A name is resolved once, every
 * address in the answer is checked, and one refused address refuses the whole answer. Kinds of
 * addresses: spec/webhook.md §5. Format: spec/http-proxy.md §5.
 */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import {
  addressKind,
  type Authority,
  ConsentError,
  isConsentError,
  normalizeHost,
  parseAuthority,
} from "@acp/core";
import { makeRefusal, RefusedError } from "./refusals.js";

/** Resolves a host name to its IP addresses. Every address is checked before the proxy connects. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/**
 * How the operator names a host that lies on this machine or in the own network: with its port,
 * without, or not at all. A host that is named without a port is named on every port but those of
 * the proxy itself.
 */
export type Naming = (target: Authority) => "host" | "port" | undefined;

/** What addresses are checked against. */
export interface AddressRules {
  readonly naming: Naming;
  /** Ports that the proxy listens on at this moment, at whatever address of this machine. */
  readonly ownPorts: () => readonly number[];
  /**
   * Addresses of this machine's interfaces: what they reach is this machine, whatever their kind.
   */
  readonly ownAddresses: () => ReadonlySet<string>;
}

/** What the system's resolver says, hosts file included. */
export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

/** The addresses of this machine's interfaces. */
export function interfaceAddresses(): ReadonlySet<string> {
  return new Set(
    Object.values(networkInterfaces()).flatMap((list) =>
      (list ?? []).map(({ address }) => address),
    ),
  );
}

const HAS_PORT = /^(?:\[[^\]]*\]|[^:]*):\d+$/;

/**
 * Reads a list of `host` and `host:port`.
 *
 * @throws ConsentError `options_invalid` for what is no host; a pattern names nothing.
 */
export function readPrivateHosts(list: readonly string[]): Naming {
  const hosts = new Set<string>();
  const ports = new Set<string>();
  for (const entry of list) {
    try {
      if (HAS_PORT.test(entry)) ports.add(spell(parseAuthority(entry)));
      else hosts.add(normalizeHost(entry));
    } catch (cause) {
      if (!isConsentError(cause)) throw cause;
      throw new ConsentError("options_invalid", `Cannot read the private hosts: ${cause.message}`, {
        cause,
      });
    }
  }
  return (target) =>
    ports.has(spell(target)) ? "port" : hosts.has(target.host) ? "host" : undefined;
}

const spell = ({ host, port }: Authority): string => `${host}:${port}`;

/** Without brackets, as sockets and resolvers write it. */
const bare = (host: string): string => (host.startsWith("[") ? host.slice(1, -1) : host);

/** An address in the one spelling that interfaces have; what is none stays as it is. */
const sameSpelling = (address: string): string =>
  isIP(address) === 6 && !address.includes("%") ? bare(normalizeHost(`[${address}]`)) : address;

/** Why a host may not be reached at an address, and whether the operator could allow it. */
interface Obstacle {
  readonly what: string;
  readonly isNameable: boolean;
}

/**
 * What a host's address is, where the host may not be reached at it. The address itself is not
 * said: the agent may have no other way to learn it.
 */
function obstacleAt(target: Authority, given: string, rules: AddressRules): Obstacle | undefined {
  const address = sameSpelling(given);
  const kind = addressKind(address);
  if (kind === "refused")
    return {
      what: "link-local, translated, reserved or cloud metadata; no setting allows it",
      isNameable: false,
    };
  const isHere = kind === "loopback" || rules.ownAddresses().has(address);
  if (!isHere && kind === "public") return undefined;
  const naming = rules.naming(target);
  const allows = `"${spell(target)}" in proxy.private_hosts allows it`;
  const isProxy = isHere && rules.ownPorts().includes(target.port);
  if (isProxy && naming !== "port")
    return { what: `this proxy itself; only ${allows}`, isNameable: true };
  if (naming !== undefined) return undefined;
  return {
    what: `${isHere ? "this machine" : "in a private network"}; ${allows}`,
    isNameable: true,
  };
}

/**
 * Checks every address of a host.
 *
 * @throws RefusedError `address_refused` where one of them may not be reached.
 */
export function checkAddresses(
  target: Authority,
  addresses: readonly string[],
  rules: AddressRules,
): void {
  // One bad address among good ones is how rebinding starts: the whole answer is refused.
  const obstacles = addresses
    .map((address) => obstacleAt(target, address, rules))
    .filter((each) => each !== undefined);
  // What no setting allows is the reason: naming the host would not help.
  const obstacle = obstacles.find(({ isNameable }) => !isNameable) ?? obstacles[0];
  if (obstacle !== undefined) throw refusedAt(target, obstacle);
}

function refusedAt({ host }: Authority, { what, isNameable }: Obstacle): RefusedError {
  const refusal = makeRefusal("address_refused", `the address of "${host}" is ${what}`);
  const remedy = `${refusal.remedy}, or ask the operator to name this one in proxy.private_hosts`;
  return new RefusedError(isNameable ? { ...refusal, remedy } : refusal);
}

/** The address that a host is, where it is one. */
export function literalAddress(host: string): string | undefined {
  const address = bare(host);
  return isIP(address) === 0 ? undefined : address;
}
