/**
 * GatewayRelay: carries messages between the connected devices. It decides nothing and keeps
 * nothing: what cannot be handed over at once is told to its sender.
 */
import { encodeMessage } from "./codec.js";
import type { GatewayConnection } from "./gateway-connection.js";
import type { GatewayDevice, GatewayDevices } from "./gateway-devices.js";
import {
  GATEWAY_ID,
  type Message,
  type MessageAction,
  type MessageHead,
  type RpcError,
} from "./protocol.js";
import { CloseCode } from "./socket.js";

/** What each kind of device may send. What the gateway itself says is in neither list. */
const ACTIONS: Readonly<Record<GatewayDevice["role"], readonly MessageAction[]>> = {
  hub: ["exec-approval-request", "exec-approval-ended", "response"],
  client: ["request"],
};

// One text for a device that is not connected, one that does not exist and one that this device may
// not talk to: none learns of another.
const UNREACHABLE: RpcError = { code: "UNREACHABLE", message: "No such device is connected" };

/** The connected devices. */
export interface GatewayRelay {
  /** A device came; a connection that it had before is closed. */
  join(connection: GatewayConnection): void;
  /** A connection is over. */
  leave(connection: GatewayConnection): void;
  /** Carries a device's message, as the text that came. */
  carry(sender: GatewayConnection, message: Message, text: string): void;
  connections(): readonly GatewayConnection[];
}

/** Options of {@link createRelay}. */
export interface RelayOptions {
  readonly devices: GatewayDevices;
  readonly nextId: () => string;
}

/** A relay without connections. */
export function createRelay({ devices, nextId }: RelayOptions): GatewayRelay {
  const online = new Map<string, GatewayConnection>();
  const notices = createNotices(nextId);
  const connectedPeers = (id: string): readonly GatewayConnection[] =>
    [...devices.peersOf(id)].map((peer) => online.get(peer)).filter((peer) => peer !== undefined);

  return {
    join(connection) {
      const { id } = connection.device;
      const former = online.get(id);
      online.set(id, connection);
      former?.close(CloseCode.replaced, "the device connected again");
      for (const peer of connectedPeers(id)) {
        notices.presence(connection, peer.device.id, true);
        notices.presence(peer, id, true);
      }
    },
    leave(connection) {
      const { id } = connection.device;
      if (online.get(id) !== connection) return;
      online.delete(id);
      for (const peer of connectedPeers(id)) notices.presence(peer, id, false);
    },
    carry(sender, message, text) {
      const { device } = sender;
      // INVARIANT: who sent a message is what the connection's token says. This is all that a hub
      // goes by.
      if (message.from !== device.id)
        return sender.close(CloseCode.notAllowed, "from is another device");
      if (!ACTIONS[device.role].includes(message.action))
        return sender.close(CloseCode.notAllowed, `a ${device.role} does not send this`);
      const target = devices.peersOf(device.id).has(message.to)
        ? online.get(message.to)
        : undefined;
      const sending = target === undefined ? Promise.resolve(false) : target.send(text);
      void sending.then((isSent) =>
        notices.outcome(sender, message, isSent ? undefined : UNREACHABLE),
      );
    },
    connections: () => [...online.values()],
  };
}

/** What the gateway itself tells a device. Whoever is gone by now needs nothing. */
interface Notices {
  /** A peer of this connection came or went. */
  presence(connection: GatewayConnection, deviceId: string, isOnline: boolean): void;
  /** What became of a message, where its sender has no other way to learn it. */
  outcome(sender: GatewayConnection, message: Message, error?: RpcError): void;
}

function createNotices(nextId: () => string): Notices {
  const tell = (
    { device, send }: GatewayConnection,
    make: (head: MessageHead) => Message,
  ): void => {
    void send(encodeMessage(make({ id: nextId(), from: GATEWAY_ID, to: device.id })));
  };
  return {
    presence: (connection, deviceId, isOnline) =>
      tell(connection, (head) => ({
        ...head,
        action: "presence",
        payload: { deviceId, online: isOnline },
      })),
    outcome(sender, message, error) {
      if (message.action === "response") return;
      if (message.action !== "request") {
        const messageId = message.id;
        const payload =
          error === undefined
            ? { messageId, ok: true as const }
            : { messageId, ok: false as const, error };
        return tell(sender, (head) => ({ ...head, action: "receipt", payload }));
      }
      // A call has an answer of its own; only one that reaches nobody is answered here.
      const { requestId } = message.payload;
      if (error !== undefined)
        tell(sender, (head) => ({
          ...head,
          action: "response",
          payload: { requestId, ok: false, error },
        }));
    },
  };
}
