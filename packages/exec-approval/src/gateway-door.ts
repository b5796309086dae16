/** GatewayDoor: where a gateway listens, and whom it lets in. */
import { type IncomingMessage, type Server, STATUS_CODES, createServer } from "node:http";
import { BlockList, isIP } from "node:net";
import type { Duplex } from "node:stream";
import { ConsentError } from "@acp/core";
import { type WebSocket, WebSocketServer } from "ws";
import { MESSAGE_BYTES_MAX } from "./codec.js";
import type { ListenOptions } from "./connection-types.js";
import { SUBPROTOCOL, tokenOf } from "./device-token.js";
import type { GatewayDevice, GatewayDevices } from "./gateway-devices.js";

/** Options of {@link createDoor}. */
export interface DoorOptions {
  readonly devices: GatewayDevices;
  /** Takes a device that was let in. */
  readonly take: (device: GatewayDevice, socket: WebSocket) => void;
  /** 401 no device's token, 403 a token that would cross a network in the clear, 503 shut. */
  readonly onRefused: (status: number) => void;
}

/** A gateway's door. */
export interface GatewayDoor {
  listen(options?: ListenOptions): Promise<{ readonly url: string; readonly port: number }>;
  attach(server: Server): void;
  /** Lets nobody in any more. */
  shut(): void;
  /** Ends the server of its own, where there is one. */
  release(): Promise<void>;
}

/**
 * How long a handshake may take, and how many connections beyond one for each device a server of
 * ours holds.
 */
const HANDSHAKE_MS = 10_000;
const SPARE_CONNECTIONS = 64;

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

function isLoopback(address: string | undefined): boolean {
  const version = isIP(address ?? "");
  return (
    address !== undefined &&
    version !== 0 &&
    LOOPBACK.check(address, version === 4 ? "ipv4" : "ipv6")
  );
}

/** Whether what the other side says stays on this machine or is encrypted. */
function isPrivate({ socket }: IncomingMessage): boolean {
  return "encrypted" in socket || isLoopback(socket.localAddress);
}

function turnAway(socket: Duplex, status: number): void {
  socket.once("finish", () => socket.destroy());
  const challenge = status === 401 ? "WWW-Authenticate: Bearer\r\n" : "";
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${challenge}Connection: close\r\nContent-Length: 0\r\n\r\n`,
  );
}

function createOwnServer(devices: number): Server {
  const server = createServer(
    { headersTimeout: HANDSHAKE_MS, requestTimeout: HANDSHAKE_MS },
    (_request, response) => {
      response.writeHead(426, { connection: "close", upgrade: "websocket" }).end();
    },
  );
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

/** A door that nobody has been told of. */
export function createDoor({ devices, take, onRefused }: DoorOptions): GatewayDoor {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  const attached = new Set<Server>();
  let own: Server | undefined;
  let isPublic = false;
  let isShut = false;
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const refuse = (status: number): void => {
      onRefused(status);
      turnAway(socket, status);
    };
    socket.on("error", () => socket.destroy());
    if (isShut) return refuse(503);
    if (!isPublic && !isPrivate(request)) return refuse(403);
    const token = tokenOf(request.headers);
    const device = token === undefined ? undefined : devices.authenticate(token);
    if (device === undefined) return refuse(401);
    sockets.handleUpgrade(request, socket, head, (upgraded) => take(device, upgraded));
  };
  return {
    async listen({ port = 0, dangerouslyListenOn } = {}) {
      if (own !== undefined || isShut)
        throw new ConsentError("options_invalid", "Cannot listen: the gateway did already");
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
    shut() {
      isShut = true;
      for (const server of attached) server.off("upgrade", onUpgrade);
    },
    async release() {
      const server = own;
      if (server === undefined) return;
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}
