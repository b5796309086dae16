/**
 * UID port: the proxy's listener on the host's own loopback, where everybody who is not kept out
 * could connect.
 */
import { createServer } from "node:net";
import type { Server } from "node:net";
import { ConsentError } from "@acp/core";

/** A listener and its port. */
export interface OpenPort {
  readonly port: number;
  readonly server: Server;
}

/**
 * Listens on 127.0.0.1; whoever connects before anybody asked for connections is cut off.
 *
 * @param port - 0: any free one.
 * @throws ConsentError `sandbox_failed`, also where somebody else has the port.
 */
export async function listenOnLoopback(port: number): Promise<OpenPort> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    const fail = (error: Error): void => {
      reject(
        new ConsentError(
          "sandbox_failed",
          `Cannot listen on 127.0.0.1:${port} for an agent: ${error.message}`,
          { cause: error },
        ),
      );
    };
    server.once("error", fail);
    server.listen({ host: "127.0.0.1", port, backlog: 511, exclusive: true }, () => {
      server.off("error", fail);
      resolve();
    });
  });
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new ConsentError("sandbox_failed", "Cannot listen on 127.0.0.1 for an agent: no port");
  return { port: address.port, server };
}

/**
 * Holds a port for as long as it takes to load the rules for it: until then strangers can connect,
 * and a listener keeps what it accepted.
 */
export async function holdPort(port: number): Promise<OpenPort> {
  const held = await listenOnLoopback(port);
  held.server.on("connection", (socket) => socket.destroy());
  return held;
}

/** Stops listening; connections that were accepted live on. */
export async function stopListening(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    if (!server.listening) resolve();
    else server.close(() => resolve());
  });
}
