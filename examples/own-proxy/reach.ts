/**
 * Which addresses a proxy may reach: public ones, and none of this machine. Both literals and what
 * names resolve to are checked; nothing is resolved twice.
 */
import { lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { networkInterfaces } from "node:os";
import { addressKind } from "@acp/core";

/** Whether an IP address may be reached. */
export type Reach = (address: string) => boolean;

/** Public, and not an address of this machine's own interfaces. */
export const isPublic: Reach = (address) =>
  addressKind(address) === "public" &&
  !Object.values(networkInterfaces()).some((list) =>
    (list ?? []).some((own) => own.address === address),
  );

/**
 * Refuses a host that is an address, in brackets or without, or a name of this machine: no lookup
 * checks those.
 */
export function refuseLiteral(host: string, mayReach: Reach): void {
  const bare = host.replace(/^\[|\]$/g, "");
  const refused =
    isIP(bare) === 0
      ? /(?:^|\.)localhost\.?$/.test(bare) && !mayReach("127.0.0.1")
      : !mayReach(bare);
  if (refused) throw new Error(`"${host}" is not an address that may be reached`);
}

/**
 * Resolves a name once; one address that may not be reached refuses the whole answer, so that no
 * later answer (DNS rebinding) matters.
 */
export function lookupWithin(mayReach: Reach): LookupFunction {
  return (host, options, done) =>
    lookup(host, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined)
        return done(error ?? new Error(`"${host}" has no address`), "");
      if (!addresses.every(({ address }) => mayReach(address)))
        return done(new Error(`"${host}" is not at an address that may be reached`), "");
      return options.all === true ? done(null, addresses) : done(null, first.address, first.family);
    });
}
