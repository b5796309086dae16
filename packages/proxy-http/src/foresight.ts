/**
 * Foresight: what would be refused after a yes is refused before the question, so that nobody is
 * asked in vain. It goes by what is known already and asks no resolver: looking a name up tells the
 * name to the network, and that is for a decision to allow (docs/adr/0101).
 */
import type { Authority, Clock } from "@acp/core";
import { type AddressRules, checkAddresses, literalAddress } from "./addresses.js";
import { type Refusal, RefusedError } from "./refusals.js";

/** How long a host that could not be reached at its addresses is taken to be so still. */
const REMEMBERED_MS: Readonly<Partial<Record<Refusal["code"], number>>> = {
  address_refused: 60_000,
  upstream_unreachable: 10_000,
};
/** Hosts that are remembered; the oldest is forgotten first. */
const HOSTS_MAX = 1_000;
const LOOPBACK = ["127.0.0.1", "::1"];

/** What is known of hosts before anybody is asked. */
export interface Foresight {
  /**
   * Checks that a host may be reached, as far as that is known.
   *
   * @throws RefusedError `address_refused` or `upstream_unreachable`.
   */
  check(target: Authority): void;
  /** Remembers why a host was not reached. */
  note(target: Authority, error: unknown): void;
}

interface Remembered {
  readonly refusal: Refusal;
  readonly untilMs: number;
}

/**
 * The addresses of a host that nobody has to look up: what is one, and what RFC 6761 §6.3 says is
 * this machine.
 */
function knownAddresses(host: string): readonly string[] | undefined {
  const literal = literalAddress(host);
  if (literal !== undefined) return [literal];
  return host === "localhost" || host.endsWith(".localhost") ? LOOPBACK : undefined;
}

/** Knows nothing yet but what addresses say by themselves. */
export function createForesight(rules: AddressRules, clock: Clock): Foresight {
  const hosts = new Map<string, Remembered>();
  const spell = ({ host, port }: Authority): string => `${host}:${port}`;
  return {
    check(target) {
      const addresses = knownAddresses(target.host);
      if (addresses !== undefined) checkAddresses(target, addresses, rules);
      const known = hosts.get(spell(target));
      if (known === undefined) return;
      if (clock.monotonic() < known.untilMs) throw new RefusedError(known.refusal);
      hosts.delete(spell(target));
    },
    note(target, error) {
      if (!(error instanceof RefusedError)) return;
      const { refusal } = error;
      const ms = REMEMBERED_MS[refusal.code];
      if (ms === undefined) return;
      hosts.delete(spell(target));
      hosts.set(spell(target), { refusal, untilMs: clock.monotonic() + ms });
      const [oldest] = hosts.keys();
      if (hosts.size > HOSTS_MAX && oldest !== undefined) hosts.delete(oldest);
    },
  };
}
