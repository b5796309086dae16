/**
 * Patch fetch: the global fetch, WebSocket and EventSource of this process go through the proxy.
 * They ask one dispatcher, which stands under a name that Node and the package undici share; ours
 * is of Node's own class, so that pooling, upgrades and back-pressure stay Node's.
 */
import { connect as connectPlain, isIP } from "node:net";
import type { Socket } from "node:net";
import { connect as connectSecure } from "node:tls";
import { makeTarget } from "./environment.js";
import type { ProxyOf } from "./environment.js";
import { openTunnel } from "./open-tunnel.js";

/** Where undici up to version 7, and with it Node's fetch, looks for its dispatcher. */
const DISPATCHER: unique symbol = Symbol.for("undici.globalDispatcher.1");

type HeaderValue = string | readonly string[] | null | undefined;

/** In all the forms that undici takes. */
type Headers =
  | readonly string[]
  | Iterable<readonly [string, HeaderValue]>
  | Readonly<Record<string, HeaderValue>>;

/** What fetch hands to its dispatcher, as far as it matters here. */
interface DispatchOptions {
  readonly origin: string | URL;
  readonly path: string;
  readonly headers?: Headers | null;
}

/** What the dispatcher asks to be connected to. */
interface ConnectOptions {
  readonly protocol: string;
  readonly hostname: string;
  readonly port: string;
  readonly servername?: string | null;
}

type OnConnected = (error: Error | null, socket: Socket | null) => unknown;
type Connect = (options: ConnectOptions, onConnected: OnConnected) => void;

/** Node's own dispatcher and its class. */
interface Dispatcher {
  dispatch(options: DispatchOptions, handler: unknown): boolean;
}
type DispatcherClass = new (options: { readonly connect: Connect }) => Dispatcher;

/**
 * Patches them.
 *
 * @throws Error where this Node has no such dispatcher: a program that is to be gated must not run
 *   beside its gate.
 */
export function patchFetch(proxyOf: ProxyOf): void {
  const OfNode = dispatcherClass();
  class ProxyDispatcher extends OfNode {
    override dispatch(options: DispatchOptions, handler: unknown): boolean {
      return super.dispatch(adjustPlain(proxyOf, options), handler);
    }
  }
  const dispatcher = new ProxyDispatcher({ connect: connectVia(proxyOf) });
  if (!Reflect.set(globalThis, DISPATCHER, dispatcher))
    throw unpatchable("its dispatcher cannot be replaced");
}

function dispatcherClass(): DispatcherClass {
  // Loads what Node loads at the first fetch.
  void globalThis.Request;
  const own = plainOf(Reflect.get(globalThis, DISPATCHER));
  const ownClass: unknown =
    typeof own === "object" && own !== null && "dispatch" in own ? own.constructor : undefined;
  if (typeof ownClass !== "function") throw unpatchable("there is no dispatcher");
  // What it is called with, and that it does it, is tested with every Node that we support; its
  // types are not public.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return ownClass as DispatcherClass;
}

/**
 * The dispatcher that knows no proxy: with NODE_USE_ENV_PROXY it stands behind one that does, which
 * would open a tunnel for plain requests, too, so that a gate sees no method and no path.
 */
function plainOf(dispatcher: unknown): unknown {
  if (typeof dispatcher !== "object" || dispatcher === null) return dispatcher;
  const name = Object.getOwnPropertySymbols(dispatcher).find(
    ({ description }) => description === "no proxy agent",
  );
  const plain: unknown = name === undefined ? undefined : Reflect.get(dispatcher, name);
  return plain ?? dispatcher;
}

function unpatchable(why: string): Error {
  return new Error(`Cannot patch fetch of Node ${process.version}: ${why}`);
}

/** A plain request in absolute form, to the proxy. */
function adjustPlain(proxyOf: ProxyOf, options: DispatchOptions): DispatchOptions {
  const { protocol, hostname, port, host } = new URL(String(options.origin));
  if (protocol !== "http:") return options;
  const proxy = proxyOf(makeTarget(protocol, hostname, port));
  if (proxy === undefined) return options;
  const added =
    proxy.authorization === undefined ? [] : ["proxy-authorization", proxy.authorization];
  const headers = flatHeaders(options.headers ?? {});
  const names = headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  // Without one, the host would be the proxy's.
  const hostHeader = names.includes("host") ? [] : ["host", host];
  return {
    ...options,
    origin: proxy.origin,
    path: `http://${host}${options.path}`,
    headers: [...hostHeader, ...headers, ...added],
  };
}

/** Names and values in turn. */
function flatHeaders(headers: Headers): readonly string[] {
  if (isList(headers)) return headers;
  const entries = isIterable(headers) ? [...headers] : Object.entries(headers);
  return entries.flatMap(([name, value]) => [value ?? []].flat().flatMap((each) => [name, each]));
}

function isList(headers: Headers): headers is readonly string[] {
  return Array.isArray(headers);
}

function isIterable(headers: Headers): headers is Iterable<readonly [string, HeaderValue]> {
  return Symbol.iterator in headers;
}

/** Connects to a proxy or a host; to a host of https through a tunnel. */
function connectVia(proxyOf: ProxyOf): Connect {
  return (options, onConnected) => {
    open(proxyOf, options).then(
      (socket) => onConnected(null, socket),
      (error: unknown) =>
        onConnected(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
}

async function open(
  proxyOf: ProxyOf,
  { protocol, hostname, port, servername }: ConnectOptions,
): Promise<Socket> {
  const target = makeTarget(protocol === "https:" ? protocol : "http:", hostname, port);
  const { host } = target;
  if (target.protocol === "http:")
    return connected(connectPlain({ host, port: target.port }), "connect");
  const proxy = proxyOf(target);
  const way =
    proxy === undefined
      ? { host, port: target.port }
      : { host, socket: await openTunnel(proxy, target) };
  const name = servername ?? (isIP(host) === 0 ? host : "");
  return connected(
    connectSecure({
      ...way,
      ...(name !== "" && { servername: name }),
      ALPNProtocols: ["http/1.1"],
    }),
    "secureConnect",
  );
}

function connected(socket: Socket, event: "connect" | "secureConnect"): Promise<Socket> {
  socket.setNoDelay(true);
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once(event, () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}
