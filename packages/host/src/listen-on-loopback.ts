/**
 * Listen on loopback: a port of 127.0.0.1 that this process alone has.
 */
import type { Server } from "node:net";
import { ConsentError } from "@acp/core";

const HOST = "127.0.0.1";

/**
 * Listens. What goes wrong with the server later fails the connection that it happens to, and not
 * the process.
 *
 * @param port - 0 for one that is free.
 * @returns The port.
 * @throws ConsentError `options_invalid` where the port cannot be had.
 */
export function listenOnLoopback(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const refuse = (cause: Error): void => {
      const message = `Cannot listen on ${HOST} port ${port}: ${cause.message}`;
      reject(new ConsentError("options_invalid", message, { cause }));
    };
    server.once("error", refuse);
    server.listen({ port, host: HOST, exclusive: true }, () => {
      server.off("error", refuse);
      server.on("error", () => undefined);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}
