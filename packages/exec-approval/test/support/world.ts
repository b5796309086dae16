/** A gateway with its devices, for tests: real sockets on loopback. */
import { type Clock, systemClock } from "@acp/core";
import { vi } from "vitest";
import { WebSocket } from "ws";
import { hashDeviceToken, makeDeviceToken } from "../../src/device-token.js";
import {
  GatewayClient,
  type GatewayClientEvent,
  type GatewayClientOptions,
} from "../../src/gateway-client.js";
import { createGateway, type Gateway, type GatewayEvent } from "../../src/gateway.js";
import type { ExecApprovalRequestPayload } from "../../src/protocol.js";
import { createUuidV7 } from "../../src/uuid-v7.js";

/** Looks until it holds; a slow machine gets its time. */
export const until = (look: () => void): Promise<void> =>
  vi.waitFor(look, { timeout: 120_000, interval: 10 });

/** A test's gateway: one hub, `hub`, and the clients named. */
export interface World extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly url: string;
  readonly port: number;
  readonly events: readonly GatewayEvent[];
  tokenOf(deviceId: string): string;
  /** A device's end, not connected yet. */
  device(deviceId: string, more?: Partial<GatewayClientOptions>): GatewayClient;
  /** A connection whose bytes the test chooses. */
  raw(deviceId: string): Promise<RawDevice>;
  /** Ends the gateway and starts another one at the same port. */
  restart(): Promise<void>;
  stopGateway(): Promise<void>;
}

/** A connection without a client. */
export interface RawDevice {
  readonly socket: WebSocket;
  readonly received: readonly string[];
  /** Code and reason, when it is over. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

/** Options of {@link createWorld}. */
export interface WorldOptions {
  readonly clients?: readonly string[];
  readonly clock?: Clock;
}

/** Opens a connection with the given headers; rejects with the status where it is turned away. */
export function openRaw(
  url: string,
  headers: Readonly<Record<string, string>>,
  protocols: string[] = [],
): Promise<RawDevice> {
  const socket = new WebSocket(url, protocols, { headers });
  const received: string[] = [];
  socket.on("message", (data: Buffer) => received.push(data.toString("utf8")));
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on("close", (code, reason) => resolve({ code, reason: reason.toString("utf8") }));
  });
  return new Promise((resolve, reject) => {
    socket.on("error", () => undefined);
    socket.on("unexpected-response", (_request, response) => {
      reject(new Error(`status ${response.statusCode}`));
      socket.terminate();
    });
    socket.on("open", () => resolve({ socket, received, closed }));
  });
}

/** A request's payload, open for a minute. */
export function payloadOf(
  more: Partial<ExecApprovalRequestPayload> = {},
): ExecApprovalRequestPayload {
  return {
    approvalId: createUuidV7()(),
    agentId: "agent",
    command: "npm test",
    cwd: "/project",
    riskLevel: "needs-review",
    riskReasons: ["`npm` is not proven read-only"],
    expiresAtMs: Date.now() + 60_000,
    ...more,
  };
}

/** What happens to a client, as it comes. */
export function watch(client: GatewayClient): readonly GatewayClientEvent[] {
  const events: GatewayClientEvent[] = [];
  client.onEvent((event) => events.push(event));
  return events;
}

/** Starts a gateway for `hub` and its clients. */
export async function createWorld({
  clients = ["phone", "laptop"],
  clock = systemClock,
}: WorldOptions = {}): Promise<World> {
  const tokens = new Map(["hub", "stranger-hub", ...clients].map((id) => [id, makeDeviceToken()]));
  const tokenOf = (id: string): string => tokens.get(id) ?? makeDeviceToken();
  const events: GatewayEvent[] = [];
  const start = (): Gateway =>
    createGateway({
      clock,
      onEvent: (event) => events.push(event),
      devices: [
        { id: "hub", tokenHash: hashDeviceToken(tokenOf("hub")), role: "hub" },
        { id: "stranger-hub", tokenHash: hashDeviceToken(tokenOf("stranger-hub")), role: "hub" },
        ...clients.map(
          (id) =>
            ({
              id,
              tokenHash: hashDeviceToken(tokenOf(id)),
              role: "client",
              hubs: ["hub"],
            }) as const,
        ),
      ],
    });
  let gateway = start();
  const { url, port } = await gateway.listen();
  const devices: GatewayClient[] = [];
  const raws: RawDevice[] = [];
  return {
    get gateway() {
      return gateway;
    },
    url,
    port,
    events,
    tokenOf,
    device(deviceId, more = {}) {
      const client = new GatewayClient({
        url,
        deviceId,
        token: tokenOf(deviceId),
        clock,
        random: () => 0,
        ...more,
      });
      devices.push(client);
      return client;
    },
    async raw(deviceId) {
      const device = await openRaw(url, { authorization: `Bearer ${tokenOf(deviceId)}` });
      raws.push(device);
      return device;
    },
    stopGateway: () => gateway.close(),
    async restart() {
      await gateway.close();
      gateway = start();
      await gateway.listen({ port });
    },
    async [Symbol.asyncDispose]() {
      for (const { socket } of raws) socket.terminate();
      await Promise.all(devices.map((device) => device.close()));
      await gateway.close();
    },
  };
}
