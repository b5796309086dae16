/**
 * Canaries: four places on the host, opened for one self-check, that a sealed agent cannot reach.
 * They keep what they see, so that a self-check does not rest on the word of the one that was
 * checked.
 */
import { createSocket, type Socket as DatagramSocket } from "node:dgram";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod } from "node:fs/promises";
import { connect, createServer, type ListenOptions, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { ConsentError } from "@acp/core";
import type { Canaries } from "./parts.js";

/** Kinds of canaries. */
export type CanaryKind = "tcp" | "udp" | "pathSocket" | "abstractSocket";

/** Open canaries. */
export interface OpenCanaries extends AsyncDisposable {
  readonly places: Canaries;
  /** Which of them got the nonce. Of datagrams: of all that were sent before this call. */
  reached(): Promise<ReadonlySet<CanaryKind>>;
}

/**
 * A Unix socket's path has at most so many bytes; a longer one would be cut, and lie elsewhere.
 * Source: unix(7).
 */
const SOCKET_PATH_BYTES_MAX = 107;
/** Most bytes of one visitor that are kept. */
const VISIT_BYTES_MAX = 1024;

/**
 * Opens the canaries.
 *
 * @param directory - Where the path socket is made; open to every user who may pass through the
 *   directory.
 * @param nonce - What makes a visit count: strangers on the host may knock as well.
 * @throws ConsentError `sandbox_failed` where the directory's path is too long for a socket.
 */
export async function openCanaries(directory: string, nonce: string): Promise<OpenCanaries> {
  const seen = new Set<CanaryKind>();
  const path = join(directory, "canary.sock");
  if (Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX)
    throw new ConsentError(
      "sandbox_failed",
      `Cannot check the sandbox: the path "${path}" is too long for a socket; set XDG_RUNTIME_DIR or TMPDIR to a shorter directory`,
    );
  const abstract = `acp-canary-${randomBytes(8).toString("hex")}`;
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(closing.splice(0).map((each) => each()));
  };
  const open = async (kind: CanaryKind, where: ListenOptions): Promise<Server> => {
    const { server, end } = await openStream(
      where,
      (text) => text.includes(nonce) && seen.add(kind),
    );
    closing.push(end);
    return server;
  };
  try {
    const tcp = await open("tcp", { host: "127.0.0.1", port: 0 });
    await open("pathSocket", { path });
    await chmod(path, 0o666);
    await open("abstractSocket", { path: `\0${abstract}` });
    const { udp, end } = await openDatagram((text) => text.includes(nonce) && seen.add("udp"));
    closing.push(end);
    const places: Canaries = { tcpPort: portOf(tcp), udpPort: udp.address().port, path, abstract };
    const reached = async (): Promise<ReadonlySet<CanaryKind>> => {
      await Promise.all([drainStream(portOf(tcp)), drainDatagrams(udp)]);
      return seen;
    };
    return { places, reached, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openStream(
  where: ListenOptions,
  onText: (text: string) => void,
): Promise<{ server: Server; end: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  let isOver = false;
  const server = createServer((socket) => {
    // Accepted before the server closed, and heard of only now: nobody else would close it.
    if (isOver) return void socket.destroy();
    let text = "";
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      text = (text + chunk).slice(0, VISIT_BYTES_MAX);
      onText(text);
    });
  });
  server.listen({ ...where, exclusive: true });
  await once(server, "listening");
  const end = async (): Promise<void> => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { server, end };
}

async function openDatagram(
  onText: (text: string) => void,
): Promise<{ udp: DatagramSocket; end: () => Promise<void> }> {
  const udp = createSocket("udp4");
  udp.on("message", (message) => onText(message.toString("latin1")));
  udp.bind({ address: "127.0.0.1", port: 0, exclusive: true });
  await once(udp, "listening");
  udp.on("error", () => {}); // an ICMP answer to nobody's datagram
  return { udp, end: () => new Promise((resolve) => udp.close(() => resolve())) };
}

/** Connections are accepted in their order: when ours is through, those before it were seen. */
async function drainStream(port: number): Promise<void> {
  const socket = connect({ host: "127.0.0.1", port });
  socket.end("drained");
  socket.resume();
  await once(socket, "close");
}

/**
 * Loopback delivers a datagram before its sender goes on, and the queue keeps its order: when our
 * mark arrives, all before it did.
 */
async function drainDatagrams(udp: DatagramSocket): Promise<void> {
  const mark = randomBytes(16);
  const arrived = new Promise<void>((resolve) => {
    const look = (message: Buffer): void => {
      if (!message.equals(mark)) return;
      udp.off("message", look);
      resolve();
    };
    udp.on("message", look);
  });
  udp.send(mark, udp.address().port, "127.0.0.1");
  await arrived;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new TypeError("Cannot read the port of a canary: it is closed");
  return address.port;
}
