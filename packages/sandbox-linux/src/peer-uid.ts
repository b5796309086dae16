/**
 * Peer uid: which user a connection over the loopback comes from, as the kernel's list of sockets
 * says. Reads /proc only.
 */
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";

/** The two ends of a connection over 127.0.0.1 or ::1, as the accepting end sees them. */
export interface LoopbackEnds {
  readonly localPort: number;
  readonly remotePort: number;
}

const LISTS = ["/proc/net/tcp", "/proc/net/tcp6"] as const;
// The words of an address are printed as numbers, so their bytes are the other way round on a
// little-endian machine.
const LOOPBACK = {
  "/proc/net/tcp": ["0100007F"],
  "/proc/net/tcp6": ["0000000000000000FFFF00000100007F", "00000000000000000000000001000000"],
} as const;

/** The uid that opened the other end; `undefined` where the kernel does not list it (any more). */
export function peerUid(
  ends: LoopbackEnds,
  read: (path: string) => string = (path) => readFileSync(path, "latin1"),
): number | undefined {
  for (const path of LISTS) {
    let text: string;
    try {
      text = read(path);
    } catch {
      continue; // no IPv6 in this kernel
    }
    for (const address of LOOPBACK[path]) {
      const uid = findUid(text, address, ends);
      if (uid !== undefined) return uid;
    }
  }
  return undefined;
}

/**
 * A line: number, the socket's own address, the other one, state, two queues, two timers,
 * retransmissions, uid.
 */
function findUid(
  text: string,
  address: string,
  { localPort, remotePort }: LoopbackEnds,
): number | undefined {
  const [own, other] = [`${address}:${hexPort(remotePort)}`, `${address}:${hexPort(localPort)}`];
  for (const line of text.split("\n")) {
    const [, local, remote, , , , , uid] = line.trim().split(/\s+/u);
    if (local === own && remote === other) return Number(uid);
  }
  return undefined;
}

function hexPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}

/**
 * Makes a connection handler that passes on connections of processes of one uid and closes all
 * others: anyone on the host can reach a loopback listener.
 */
export function acceptFrom(
  uid: number,
  onConnection: (socket: Socket) => void,
): (socket: Socket) => void {
  return (socket) => {
    const { localPort, remotePort } = socket;
    if (
      localPort !== undefined &&
      remotePort !== undefined &&
      peerUid({ localPort, remotePort }) === uid
    ) {
      onConnection(socket);
      return;
    }
    socket.on("error", () => {}); // its other end may be gone already
    socket.destroy();
  };
}
