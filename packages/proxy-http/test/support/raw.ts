/**
 * Raw sockets on loopback: a client that sends bytes as they are, a host that keeps what it gets,
 * and patient waiting.
 */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

const PATIENCE_MS = 120_000;

/** Waits until something is so. */
export async function until(isSo: () => boolean, what: string | (() => string)): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  while (!isSo()) {
    if (performance.now() > endMs)
      throw new Error(`waited too long: ${typeof what === "string" ? what : what()}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** A client that sends bytes as they are. */
export interface RawClient {
  readonly socket: Socket;
  /** Everything that came so far, as latin1. */
  readonly text: () => string;
  readonly bytes: () => Buffer;
  write(bytes: string | Uint8Array): void;
  /** Ends this side only. */
  end(bytes?: string | Uint8Array): void;
  /** Waits until what came holds a text. */
  sees(text: string): Promise<void>;
  /** Waits until the other side ended; gives everything that came. */
  ended(): Promise<string>;
  destroy(): void;
}

export async function rawClient(port: number): Promise<RawClient> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const chunks: Buffer[] = [];
  let isEnded = false;
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.on("error", () => {});
  socket.once("end", () => {
    isEnded = true;
  });
  socket.once("close", () => {
    isEnded = true;
  });
  await once(socket, "connect");
  const bytes = (): Buffer => Buffer.concat(chunks);
  const text = (): string => bytes().toString("latin1");
  const asBytes = (given: string | Uint8Array): Uint8Array =>
    typeof given === "string" ? Buffer.from(given, "latin1") : given;
  return {
    socket,
    text,
    bytes,
    write: (given) => void socket.write(asBytes(given)),
    end: (given) => void (given === undefined ? socket.end() : socket.end(asBytes(given))),
    sees: (wanted) =>
      until(
        () => text().includes(wanted),
        () => `for ${JSON.stringify(wanted)} in ${JSON.stringify(text().slice(0, 400))}`,
      ),
    async ended() {
      await until(() => isEnded, "for the end");
      return text();
    },
    destroy: () => void socket.destroy(),
  };
}

/** One connection to a recording host. */
export interface Recorded {
  readonly socket: Socket;
  readonly text: () => string;
  readonly isEnded: () => boolean;
}

/** A host that keeps the bytes it gets, and answers as it is told. */
export interface RawHost {
  readonly port: number;
  readonly connections: readonly Recorded[];
  /** Open sockets at this moment. */
  readonly open: () => number;
  /** The nth connection, once it is there. */
  connection(index: number): Promise<Recorded>;
  close(): Promise<void>;
}

/**
 * `onData` hears everything that came on a connection so far, each time something comes.
 * `isPatient` hosts keep their side open when the other one ended.
 */
export async function rawHost(
  onData: (connection: Recorded) => void = () => {},
  isPatient = false,
): Promise<RawHost> {
  const connections: Recorded[] = [];
  let open = 0;
  const server: Server = createServer({ allowHalfOpen: isPatient }, (socket) => {
    const chunks: Buffer[] = [];
    let isEnded = false;
    open++;
    const recorded: Recorded = {
      socket,
      text: () => Buffer.concat(chunks).toString("latin1"),
      isEnded: () => isEnded,
    };
    connections.push(recorded);
    socket.on("error", () => {});
    socket.on("close", () => open--);
    socket.on("end", () => {
      isEnded = true;
    });
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      onData(recorded);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("unreachable");
  return {
    port: address.port,
    connections,
    open: () => open,
    async connection(index) {
      await until(() => connections.length > index, `for connection ${index}`);
      const found = connections[index];
      if (found === undefined) throw new Error("unreachable");
      return found;
    },
    async close() {
      for (const { socket } of connections) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Whether a whole head came. */
export function hasHead({ text }: Recorded): boolean {
  return text().includes("\r\n\r\n");
}
