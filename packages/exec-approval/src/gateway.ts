/**
 * Gateway: where hubs and clients meet. It knows each device by its token, says who a message is
 * from, and carries it to the one device it is for. Decisions are the hub's: a gateway that is
 * gone, slow or full makes a "no", never a "yes".
 */
import type { Server } from "node:http";
import { type Clock, systemClock } from "@acp/core";
import type { WebSocket } from "ws";
import { type GatewayConnection, openConnection } from "./gateway-connection.js";
import { type GatewayDevice, readDevices } from "./gateway-devices.js";
import type { ListenOptions } from "./connection-types.js";
import { createDoor } from "./gateway-door.js";
import { createRelay } from "./gateway-relay.js";
import { CLOSE_WAIT_MS, CloseCode } from "./socket.js";
import { createUuidV7 } from "./uuid-v7.js";

/** What happens at a gateway, for an operator's log. */
export type GatewayEvent =
  | { readonly type: "connected"; readonly deviceId: string }
  | { readonly type: "disconnected"; readonly deviceId: string; readonly code: number }
  /**
   * A handshake that was turned away: 401 no device's token, 403 a token that would cross a network
   * in the clear, 503 closing.
   */
  | { readonly type: "refused"; readonly status: number };

/** Options of {@link createGateway}. */
export interface GatewayOptions {
  /** Every device that may connect; no other token is accepted. */
  readonly devices: readonly GatewayDevice[];
  /**
   * Called for every event. Its errors are ignored, so that a failing log does not end the gateway.
   */
  readonly onEvent?: (event: GatewayEvent) => void;
  /** Source of time; the system's clock unless given. */
  readonly clock?: Clock;
  /** Makes ids for the gateway's own messages; UUIDv7 unless given. */
  readonly nextId?: () => string;
}

/** Passes messages between hubs and clients; decides and stores nothing. */
export interface Gateway extends AsyncDisposable {
  /**
   * Starts a server of its own, on the loopback address unless `dangerouslyListenOn` names another.
   *
   * @returns The address for `GatewayClient`.
   * @throws ConsentError `options_invalid`; the system's error if it cannot listen there.
   */
  listen(options?: ListenOptions): Promise<{ readonly url: string; readonly port: number }>;
  /**
   * Takes the upgrade requests of a server that the caller starts and stops; use https if other
   * machines can reach it.
   */
  attach(server: Server): void;
  /** Ids of the devices that are connected. */
  connected(): readonly string[];
  /** Ends every connection, and the server that `listen` started. */
  close(): Promise<void>;
}

/**
 * Makes a gateway for the given devices. It serves nothing until you call `listen()` or `attach()`.
 *
 * @throws ConsentError `options_invalid` where the list of devices has a mistake.
 */
export function createGateway(options: GatewayOptions): Gateway {
  const { clock = systemClock, nextId = createUuidV7({ clock }) } = options;
  const devices = readDevices(options.devices);
  const relay = createRelay({ devices, nextId });
  const open = createOpenConnections(clock);
  let closing: Promise<void> | undefined;
  const onEvent = (event: GatewayEvent): void => {
    try {
      options.onEvent?.(event);
    } catch {
      // As its option says.
    }
  };

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
      },
    });
    open.add(connection);
    onEvent({ type: "connected", deviceId: device.id });
    relay.join(connection);
  };
  const door = createDoor({
    devices,
    take,
    onRefused: (status) => onEvent({ type: "refused", status }),
  });

  const shut = async (): Promise<void> => {
    door.shut();
    await open.closeAll();
    await door.release();
  };
  const close = (): Promise<void> => (closing ??= shut());

  return {
    listen: (where) => door.listen(where),
    attach: (server) => door.attach(server),
    connected: () => relay.connections().map(({ device }) => device.id),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Connections that are open. */
interface OpenConnections {
  add(connection: GatewayConnection): void;
  delete(connection: GatewayConnection): void;
  /** Closes all of them; cuts those that do not close in time. */
  closeAll(): Promise<void>;
}

function createOpenConnections(clock: Clock): OpenConnections {
  const open = new Set<GatewayConnection>();
  let emptied = (): void => undefined;
  return {
    add: (connection) => void open.add(connection),
    delete(connection) {
      open.delete(connection);
      if (open.size === 0) emptied();
    },
    async closeAll() {
      const goodbyes = new Promise<void>((resolve) => {
        emptied = resolve;
        if (open.size === 0) resolve();
      });
      for (const connection of open)
        connection.close(CloseCode.goingAway, "the gateway is closing");
      const stop = new AbortController();
      const patience = clock
        .sleep(CLOSE_WAIT_MS, { signal: stop.signal, background: true })
        .catch(() => undefined);
      await Promise.race([goodbyes, patience]);
      stop.abort();
      for (const connection of open) connection.cut();
    },
  };
}
