/**
 * Target: where messages go. Its name is resolved once for every attempt, every address is checked,
 * and the connection is made to one of these very addresses: a name that resolves differently a
 * moment later (DNS rebinding) changes nothing. Format: spec/webhook.md §5.
 */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { ConsentError, addressKind, asError, normalizeHost, parseHttpUrl } from "@acp/core";

/** Resolves a host name to its IP addresses. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** A checked URL. */
export interface Target {
  readonly url: URL;
  /** Without brackets, as sockets take it. */
  readonly host: string;
  readonly port: number;
  /** Addresses of this machine are meant: the URL says localhost, 127.0.0.1 or [::1]. */
  readonly isLoopback: boolean;
  /** Addresses of the own network are meant: the host is on the list. */
  readonly isPrivateAllowed: boolean;
}

/** What the system's resolver says, hosts file included. */
export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

const withoutBrackets = (host: string): string => (host.startsWith("[") ? host.slice(1, -1) : host);

const isMeantAsLoopback = (host: string): boolean =>
  host === "localhost" || addressKind(host) === "loopback";

/** Why a checked host has no business at this address, or `undefined`. */
function refusalOf(target: Omit<Target, "url" | "port">, address: string): string | undefined {
  const kind = addressKind(address);
  if (kind === "refused") return "no receiver has that address";
  if (target.isLoopback) return kind === "loopback" ? undefined : "that is not this machine";
  if (kind === "public" || target.isPrivateAllowed) return undefined;
  return `that address is ${kind}; "allowPrivateHosts" can allow the host`;
}

function refuse(host: string, why: string): never {
  throw new ConsentError("channel_failed", `Cannot send to host "${host}": ${why}`);
}

/**
 * Reads the URL that messages go to: https, or http to this machine.
 *
 * @throws ConsentError `options_invalid` or `host_invalid`; it never shows the path, which may hold
 *   a secret.
 */
export function readTarget(input: string, allowPrivateHosts: readonly string[]): Target {
  const { url, host: spelled, port } = parseHttpUrl(input);
  const host = withoutBrackets(spelled);
  const parsed = new URL(url);
  const isLoopback = isMeantAsLoopback(host);
  if (parsed.protocol !== "https:" && !isLoopback)
    throw new ConsentError(
      "options_invalid",
      `Cannot send to host "${host}": http is for this machine only; use https for every other receiver`,
    );
  const target = {
    url: parsed,
    host,
    port,
    isLoopback,
    isPrivateAllowed: allowPrivateHosts.map(normalizeHost).includes(spelled),
  };
  const why = isIP(host) === 0 ? undefined : refusalOf(target, host);
  if (why !== undefined)
    throw new ConsentError("options_invalid", `Cannot send to host "${host}": ${why}`);
  return target;
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(asError(signal.reason));
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/**
 * The addresses to connect to: resolved now, every one of them checked.
 *
 * @throws ConsentError `channel_failed` where one of them may not be connected to; what the
 *   resolver throws; the signal's reason.
 */
export async function addressesOf(
  target: Target,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { host } = target;
  if (isIP(host) !== 0) return [host];
  const addresses = await orAborted(resolve(host), signal);
  if (addresses.length === 0) throw new Error(`host "${host}" has no address`);
  for (const address of addresses) {
    const why = refusalOf(target, address);
    // One bad address among good ones is how rebinding starts: the whole answer is refused.
    if (why !== undefined)
      refuse(host, `it resolves to ${isIP(address) === 0 ? "no address" : address}, and ${why}`);
  }
  return addresses;
}
