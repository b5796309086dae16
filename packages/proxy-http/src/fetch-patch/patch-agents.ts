/**
 * Patch the agents: every http.Agent and https.Agent of this process, also those that a program
 * makes itself, goes through the proxy. Plain requests are sent to it in absolute form, so that it
 * sees their method and URL; https goes through a tunnel.
 */
import { Agent } from "node:http";
import type { ClientRequest } from "node:http";
import { Agent as SecureAgent } from "node:https";
import { connect } from "node:tls";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import { makeTarget } from "./environment.js";
import type { Proxy, ProxyOf, Target } from "./environment.js";
import { authorityOf, openTunnel } from "./open-tunnel.js";

/** Under which the options of a connection carry the end of the request that it is made for. */
const GONE: unique symbol = Symbol("gone");

/** What an agent is told about a request, as far as it matters here. */
interface AgentOptions extends ConnectionOptions {
  readonly socketPath?: string | null;
  readonly [GONE]?: AbortSignal;
}

type OnCreated = (error: Error | null, socket?: TLSSocket) => void;

/**
 * Patches both kinds of agents.
 *
 * @throws Error where this Node has no such agents: a program that is to be gated must not run
 *   beside its gate.
 */
export function patchAgents(proxyOf: ProxyOf): void {
  const addRequest = methodOf(Agent.prototype, "addRequest");
  const own = new Agent();
  const createConnection = methodOf(SecureAgent.prototype, "createConnection");
  replace(
    Agent.prototype,
    "addRequest",
    function (this: Agent, request: ClientRequest, options: AgentOptions): unknown {
      if (this instanceof SecureAgent)
        return addRequest(this, [request, { ...options, [GONE]: goneSignal(request) }]);
      const adjusted = adjustPlain(proxyOf, request, options);
      return addRequest(adjusted !== options && connectsItself(this) ? own : this, [
        request,
        adjusted,
      ]);
    },
  );
  replace(
    SecureAgent.prototype,
    "createConnection",
    function (this: SecureAgent, options: AgentOptions, onCreated: OnCreated): unknown {
      const target = makeTarget("https:", options.host ?? "localhost", options.port);
      const proxy = proxyOf(target);
      if (proxy === undefined) return createConnection(this, [options, onCreated]);
      if (typeof onCreated !== "function")
        throw new Error(
          `Cannot open a tunnel to "${authorityOf(target)}": its agent waits for none`,
        );
      openTunnel(proxy, target, options[GONE]).then(
        (socket) => onCreated(null, connect({ ...options, socket })),
        onCreated,
      );
      return undefined;
    },
  );
}

/**
 * Whether an agent makes its connections in its own way, as that of npm does: told that the host is
 * the proxy, it may open a tunnel to the proxy through the proxy. What is addressed to ours is then
 * sent by an agent of ours.
 */
function connectsItself(agent: Agent): boolean {
  return Reflect.get(agent, "createSocket") !== Reflect.get(Agent.prototype, "createSocket");
}

/** A method that the types do not know, or know otherwise. */
function methodOf(
  holder: object,
  name: string,
): (self: object, given: readonly unknown[]) => unknown {
  const method: unknown = Reflect.get(holder, name);
  if (typeof method !== "function")
    throw new Error(`Cannot patch the agents of Node ${process.version}: they have no ${name}`);
  return (self, given): unknown => Reflect.apply(method, self, given);
}

function replace(holder: object, name: string, value: unknown): void {
  Object.defineProperty(holder, name, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  });
}

/**
 * Aborts when a request is given up: nothing else tells while it has no connection, and the
 * question about it must not stay behind.
 */
function goneSignal(request: ClientRequest): AbortSignal {
  const gone = new AbortController();
  const destroy = methodOf(request, "destroy");
  replace(request, "destroy", (...given: readonly unknown[]) => {
    gone.abort();
    return destroy(request, given);
  });
  return gone.signal;
}

/**
 * Where a plain request is sent, after it was rewritten for the proxy. A socket of this machine is
 * no network.
 */
function adjustPlain(
  proxyOf: ProxyOf,
  request: ClientRequest,
  options: AgentOptions,
): AgentOptions {
  const target = makeTarget("http:", options.host ?? "localhost", options.port);
  const isLocal = options.socketPath !== undefined && options.socketPath !== null;
  const proxy = isLocal || request.protocol !== "http:" ? undefined : proxyOf(target);
  if (proxy === undefined) return options;
  addressToProxy(request, target, proxy);
  return { ...options, host: proxy.host, port: proxy.port };
}

/** Absolute form, and who asks. CONNECT names its target already. */
function addressToProxy(request: ClientRequest, target: Target, { authorization }: Proxy): void {
  const before = request.path;
  if (request.method !== "CONNECT" && !/^https?:/i.test(before))
    request.path = absoluteForm(target, before);
  if (!request.headersSent) {
    if (authorization !== undefined) request.setHeader("proxy-authorization", authorization);
    return;
  }
  // Given as a list, or with Expect, headers are text by now, which waits for a connection.
  const start = `${request.method} ${before} HTTP/1.1\r\n`;
  const line = authorization === undefined ? "" : `proxy-authorization: ${authorization}\r\n`;
  const waiting: unknown = Reflect.get(request, "outputData");
  const chunks: readonly unknown[] = Array.isArray(waiting) ? waiting : [];
  const holders = [
    { holder: request, key: "_header" },
    ...chunks.slice(0, 1).map((holder) => ({ holder, key: "data" })),
  ];
  for (const { holder, key } of holders) {
    const text: unknown =
      typeof holder === "object" && holder !== null ? Reflect.get(holder, key) : undefined;
    if (typeof text !== "string" || !text.startsWith(start))
      throw new Error("Cannot send the request through the proxy: it is on its way");
    if (typeof holder === "object" && holder !== null)
      Reflect.set(
        holder,
        key,
        `${request.method} ${request.path} HTTP/1.1\r\n${line}${text.slice(start.length)}`,
      );
  }
}

/** `OPTIONS *` is about the host itself (RFC 9112 §3.2.4). */
function absoluteForm({ host, port }: Target, path: string): string {
  const authority = authorityOf({ host, port });
  const origin = `http://${port === 80 ? authority.replace(/:80$/, "") : authority}`;
  return path === "*" ? origin : `${origin}${path.startsWith("/") ? "" : "/"}${path}`;
}
