/**
 * Internal services: what an agent's own connection reaches inside this process, through a CONNECT
 * to `name.acp.internal:port`. Names under acp.internal belong to the proxy: it never resolves
 * them, and asks nobody about them. Format: spec/http-proxy.md §9.
 */
import type { Duplex } from "node:stream";
import { type Authority, ConsentError, isConsentError, parseAuthority } from "@acp/core";
import type { Connection } from "./connections.js";
import type { Caller } from "./caller.js";
import { refused } from "./refusals.js";

/**
 * Serves one connection of an agent. The socket starts paused, so that no data is lost before you
 * listen, and it can be half-closed. An error on it ends only this connection. The gate was not
 * asked, so the service must judge what the agent sends. Format: spec/http-proxy.md §9.
 */
export type InternalService = (socket: Duplex, caller: Caller) => void;

/** The service at a name and port, where there is one. */
export type FindInternal = (target: Authority) => InternalService | undefined;

const ZONE = "acp.internal";

/** Whether a normalised host name belongs to the proxy itself. */
export function isInternalHost(host: string): boolean {
  return host === ZONE || host.endsWith(`.${ZONE}`);
}

/**
 * Reads the services by their `name.acp.internal:port`.
 *
 * @throws ConsentError `options_invalid`.
 */
export function readInternal(services: Readonly<Record<string, InternalService>>): FindInternal {
  const found = new Map<string, InternalService>();
  for (const [key, service] of Object.entries(services)) {
    const target = readKey(key);
    if (target.host === ZONE || !isInternalHost(target.host))
      throw invalid(`"${key}" is not below ${ZONE}`);
    if (found.has(spell(target))) throw invalid(`"${key}" appears twice`);
    found.set(spell(target), service);
  }
  return (target) => found.get(spell(target));
}

const spell = ({ host, port }: Authority): string => `${host}:${port}`;

function readKey(key: string): Authority {
  try {
    return parseAuthority(key);
  } catch (cause) {
    if (!isConsentError(cause)) throw cause;
    throw invalid(cause.message, { cause });
  }
}

function invalid(why: string, options?: ErrorOptions): ConsentError {
  return new ConsentError("options_invalid", `Cannot read the internal services: ${why}`, options);
}

/** Who wants to reach a service, and how. */
export interface InternalVisit {
  readonly target: Authority;
  readonly method: string;
  readonly connection: Pick<Connection, "caller">;
}

/**
 * The service that a connection may reach.
 *
 * @throws RefusedError `service_refused` where there is none, where the request is no CONNECT, and
 *   where the connection was accepted on a listener:
 *   whoever reaches that may be anybody.
 */
export function serviceFor(
  find: FindInternal,
  { target, method, connection }: InternalVisit,
): InternalService {
  if (method !== "CONNECT")
    throw refused("service_refused", `"${target.host}" can be reached only with CONNECT`);
  if (connection.caller === undefined)
    throw refused("service_refused", `"${target.host}" can be reached only from inside a sandbox`);
  const service = find(target);
  if (service === undefined)
    throw refused(
      "service_refused",
      `this proxy has no service at "${target.host}" port ${target.port}`,
    );
  return service;
}
