/**
 * Gateway: where hubs and clients meet. It knows each device by its token, says who a message is from, and carries it to the one device it is
 * for. Decisions are the hub's: a gateway that is gone, slow or full makes a "no", never a "yes".
 */
import { type IncomingMessage, type Server, STATUS_CODES, createServer } from "node:http";
import { BlockList, isIP } from "node:net";
import type { Duplex } from "node:stream";
import { type Clock, ConsentError, systemClock } from "@acp/core";
import { type WebSocket, WebSocketServer } from "ws";
import { MESSAGE_BYTES_MAX } from "./codec.js";
import { SUBPROTOCOL, tokenOf } from "./device-token.js";
import { type GatewayConnection, openConnection } from "./gateway-connection.js";
import { type GatewayDevice, readDevices } from "./gateway-devices.js";
import { createRelay } from "./gateway-relay.js";
import { CLOSE_WAIT_MS, CloseCode } from "./socket.js";
import { createUuidV7 } from "./uuid-v7.js";

/** What happens at a gateway, for an operator's log. */
export type GatewayEvent =
  | { readonly type: "connected"; readonly deviceId: string }
  | { readonly type: "disconnected"; readonly deviceId: string; readonly code: number }
  /** A handshake that was turned away: 401 no device's token, 403 a token that would cross a network in the clear, 503 closing. */
  | { readonly type: "refused"; readonly status: number };

/** Options of {@link createGateway}. */
export interface GatewayOptions {
  readonly devices: readonly GatewayDevice[];
  readonly onEvent?: (event: GatewayEvent) => void;
  readonly clock?: Clock;
  /** Makes the ids of the gateway's own messages; UUIDv7 unless given. */
  readonly nextId?: () => string;
}

/** Options of {@link Gateway.listen}. */
export interface ListenOptions {
  /** A free one unless given. */
  readonly port?: number;
  /**
   * An address that other machines reach. Tokens and commands would cross the network in the clear: put a proxy that speaks TLS in front, or
   * give an https server to {@link Gateway.attach} instead.
   */
  readonly dangerouslyListenOn?: string;
}

/** A gateway. */
export interface Gateway extends AsyncDisposable {
  /**
   * Starts a server of its own, on this machine's loopback address.
   *
   * @returns The address for `GatewayClient`.
   */
  listen(options?: ListenOptions): Promise<{ readonly url: string; readonly port: number }>;
  /** Takes the upgrade requests of a server, an https one where other machines reach it; the caller starts and stops it. */
  attach(server: Server): void;
  /** Ids of the devices that are connected. */
  connected(): readonly string[];
  close(): Promise<void>;
}

/** How long a handshake may take, and how many connections beyond one for each device a server of ours holds. */
const HANDSHAKE_MS = 10_000;
const SPARE_CONNECTIONS = 64;

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

function isLoopback(address: string | undefined): boolean {
  const version = isIP(address ?? "");
  return address !== undefined && version !== 0 && LOOPBACK.check(address, version === 4 ? "ipv4" : "ipv6");
}

/** Whether what the other side says stays on this machine or is encrypted. */
function isPrivate({ socket }: IncomingMessage): boolean {
  return "encrypted" in socket || isLoopback(socket.localAddress);
}

function turnAway(socket: Duplex, status: number): void {
  socket.once("finish", () => socket.destroy());
  const challenge = status === 401 ? "WWW-Authenticate: Bearer\r\n" : "";
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${challenge}Connection: close\r\nContent-Length: 0\r\n\r\n`);
}

function createOwnServer(devices: number): Server {
  const server = createServer({ headersTimeout: HANDSHAKE_MS, requestTimeout: HANDSHAKE_MS }, (_request, response) => {
    response.writeHead(426, { connection: "close", upgrade: "websocket" }).end();
  });
  server.maxConnections = 2 * devices + SPARE_CONNECTIONS;
  return server;
}

function listenOn(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host }, () => {
      const address = server.address();
      server.off("error", reject);
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

/**
 * A gateway for the given devices; it listens nowhere until told to.
 *
 * @throws ConsentError `options_invalid` where the list of devices has a mistake.
 */
export function createGateway(options: GatewayOptions): Gateway {
  const { clock = systemClock, nextId = createUuidV7({ clock }), onEvent = () => undefined } = options;
  const devices = readDevices(options.devices);
  const relay = createRelay({ devices, nextId });
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  const open = new Set<GatewayConnection>();
  const attached = new Set<Server>();
  let own: Server | undefined;
  let isPublic = false;
  let closing: Promise<void> | undefined;
  let emptied = (): void => undefined;

  const take = (device: GatewayDevice, socket: WebSocket): void => {
    const connection = openConnection({
      device,
      socket,
      clock,
      onMessage: (message, text) => relay.carry(connection, message, text),
      onClose: (code) => {
        open.delete(connection);
        relay.leave(connection);
        onEvent({ type: "disconnected", deviceId: device.id, code });
        if (open.size === 0) emptied();
      },
    });
    open.add(connection);
    onEvent({ type: "connected", deviceId: device.id });
    relay.join(connection);
  };

  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const refuse = (status: number): void => {
      onEvent({ type: "refused", status });
      turnAway(socket, status);
    };
    socket.on("error", () => socket.destroy());
    if (closing !== undefined) return refuse(503);
    if (!isPublic && !isPrivate(request)) return refuse(403);
    const token = tokenOf(request.headers);
    const device = token === undefined ? undefined : devices.authenticate(token);
    if (device === undefined) return refuse(401);
    sockets.handleUpgrade(request, socket, head, (upgraded) => take(device, upgraded));
  };

  const shut = async (): Promise<void> => {
    for (const server of attached) server.off("upgrade", onUpgrade);
    const goodbyes = new Promise<void>((resolve) => {
      emptied = resolve;
      if (open.size === 0) resolve();
    });
    for (const connection of open) connection.close(CloseCode.goingAway, "the gateway is closing");
    const stop = new AbortController();
    const patience = clock.sleep(CLOSE_WAIT_MS, { signal: stop.signal, background: true }).catch(() => undefined);
    await Promise.race([goodbyes, patience]);
    stop.abort();
    for (const connection of open) connection.cut();
    if (own !== undefined) {
      const server = own;
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    }
  };
  const close = (): Promise<void> => (closing ??= shut());

  return {
    async listen({ port = 0, dangerouslyListenOn } = {}) {
      if (own !== undefined || closing !== undefined) throw new ConsentError("options_invalid", "Cannot listen: the gateway did already");
      own = createOwnServer(devices.count).on("upgrade", onUpgrade);
      isPublic = dangerouslyListenOn !== undefined;
      const host = dangerouslyListenOn ?? "127.0.0.1";
      const bound = await listenOn(own, port, host);
      return { port: bound, url: `ws://${isIP(host) === 6 ? `[${host}]` : host}:${bound}` };
    },
    attach(server) {
      attached.add(server);
      server.on("upgrade", onUpgrade);
    },
    connected: () => relay.connections().map(({ device }) => device.id),
    close,
    [Symbol.asyncDispose]: close,
  };
}
