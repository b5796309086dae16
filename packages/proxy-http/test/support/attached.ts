/** A socket that somebody else accepted, as a sandbox does, and the client at its other end. */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { Caller } from "../../src/index.js";
import { type RawClient, until } from "./raw.js";
import { client, later, type Started } from "./started.js";

export interface Attached {
  readonly raw: RawClient;
  /** The proxy's end. */
  readonly socket: Socket;
}

export const SANDBOXED: Caller = { agent: { id: "sandboxed" } };

/** Hands a new connection over to the proxy. */
export async function attached(
  { proxy }: Pick<Started, "proxy">,
  caller: Caller = SANDBOXED,
): Promise<Attached> {
  const accepted: Socket[] = [];
  const server = createServer({ pauseOnConnect: true }, (socket) => accepted.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  later(() => void server.close());
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("unreachable");
  const raw = await client(address.port);
  await until(() => accepted.length > 0, "for the connection");
  const [socket] = accepted;
  if (socket === undefined) throw new Error("unreachable");
  proxy.attach(socket, caller);
  return { raw, socket };
}
