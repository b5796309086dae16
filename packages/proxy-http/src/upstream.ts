/**
 * Upstream: requests to hosts, over sockets that were dialled to checked addresses and no others.
 * Requests that change nothing and have no body share kept connections; every other one has a
 * connection of its own, so that a host that misreads where a body ends misreads nobody else's
 * request.
 */
import { setMaxListeners } from "node:events";
import {
  Agent,
  type ClientRequest,
  type ClientRequestArgs,
  request as httpRequest,
} from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { asError, type Authority } from "@acp/core";
import type { ProxyLimits } from "./limits.js";
import type { Dial } from "./dial.js";

/** A request as it is sent. */
export interface Outgoing extends Authority {
  readonly method: string;
  readonly path: string;
  /** Names and values in turn: all of them. */
  readonly headers: readonly string[];
  /**
   * Whose connections it may share: one agent's are not another's, for what a host knows of a
   * connection it could take for who asks.
   */
  readonly sharer: string;
}

/** Makes requests to hosts. */
export interface Upstream {
  /**
   * Sends the head over a kept connection, or one that is kept afterwards. Errors of dialling are
   * the request's.
   */
  share(outgoing: Outgoing): ClientRequest;
  /** Sends the head over a connection of its own. Rejects with what dialling throws. */
  open(outgoing: Outgoing, signal: AbortSignal): Promise<ClientRequest>;
  /** Ends every kept connection. */
  close(): void;
}

/**
 * Methods that change nothing, so that a request may be sent again where a kept connection was
 * closed under it.
 */
const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Whether requests of this method may share connections. */
export function isShareable(method: string): boolean {
  return SAFE.has(method);
}

interface SharedOptions extends ClientRequestArgs {
  readonly sharer: string;
}

const sharerOf = (options: object | undefined): string =>
  options !== undefined && "sharer" in options && typeof options.sharer === "string"
    ? options.sharer
    : "";

/** Holds kept sockets. */
class CheckedAgent extends Agent {
  readonly #dial: Dial;
  readonly #keptMax: number;
  readonly #keptMs: number;
  readonly #closed = new AbortController();
  #open = 0;

  constructor(dial: Dial, { keptMax, keptMs }: ProxyLimits) {
    super({ keepAlive: true, scheduling: "lifo", maxFreeSockets: keptMax });
    this.#dial = dial;
    this.#keptMax = keptMax;
    this.#keptMs = keptMs;
    // One for every connection that is being made; they all leave.
    setMaxListeners(0, this.#closed.signal);
  }

  override getName(options?: ClientRequestArgs): string {
    return `${options?.host}:${options?.port} ${sharerOf(options)}`;
  }

  override createConnection(
    { host, port }: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    // Node's callback takes an error alone; its type does not say so.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const done = callback as ((error: Error | null, stream?: Duplex) => void) | undefined;
    void this.#connect({ host: host ?? "", port: Number(port) }, (error, stream) =>
      done?.(error, stream),
    );
    return undefined;
  }

  async #connect(
    target: Authority,
    done: (error: Error | null, stream?: Duplex) => void,
  ): Promise<void> {
    let socket: Socket;
    try {
      socket = await this.#dial(target, this.#closed.signal);
    } catch (error) {
      done(asError(error));
      return;
    }
    this.#open++;
    socket.once("close", () => this.#open--);
    done(null, socket);
  }

  /** False closes the socket after its answer. */
  override keepSocketAlive(socket: Duplex): boolean {
    if (this.#open > this.#keptMax || !(socket instanceof Socket)) return false;
    socket.unref();
    // The agent ends a kept socket at its time-out; one that is in use takes no notice of it.
    if (socket.timeout !== this.#keptMs) socket.setTimeout(this.#keptMs);
    return true;
  }

  override destroy(): void {
    this.#closed.abort(new Error("the proxy is closed"));
    super.destroy();
  }
}

/** Makes the sender of requests. */
export function createUpstream(dial: Dial, limits: ProxyLimits): Upstream {
  const agent = new CheckedAgent(dial, limits);
  const common = ({ method, path, host, port, headers }: Outgoing): ClientRequestArgs => ({
    method,
    path,
    host,
    port,
    headers,
    setHost: false,
    insecureHTTPParser: false,
    maxHeaderSize: limits.headBytesMax,
  });
  const open = (options: ClientRequestArgs): ClientRequest => {
    const request = httpRequest(options);
    // Ours refuses, see request-guard.ts; Node's drops.
    request.maxHeadersCount = 0;
    return request;
  };
  return {
    share(outgoing) {
      const options: SharedOptions = { ...common(outgoing), agent, sharer: outgoing.sharer };
      return open(options);
    },
    async open(outgoing, signal) {
      const socket = await dial({ host: outgoing.host, port: outgoing.port }, signal);
      return open({ ...common(outgoing), createConnection: () => socket });
    },
    close: () => agent.destroy(),
  };
}
