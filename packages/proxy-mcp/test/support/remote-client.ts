/** A client of a proxy in front of a server at an address. */
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import type { LineClient } from "./line-client.js";
import { ALLOW_ALL, proxied } from "./proxied.js";

export const INIT = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "t", version: "1" },
};
/** Goes to the server with every request, and nowhere else. */
export const SECRET = "Bearer s3cret-token";

export interface Opened extends AsyncDisposable {
  readonly client: LineClient;
  readonly logs: readonly string[];
}

/** A proxy in front of the server, with the handshake behind it. */
export async function opened(url: string, isInitialized = true): Promise<Opened> {
  const { client, proxy, logs } = proxied({
    policy: ALLOW_ALL,
    upstreams: [{ name: "web", url, headers: { authorization: SECRET } }],
  });
  if (isInitialized) {
    await client.request("init", "initialize", INIT);
    client.send({ method: "notifications/initialized" });
  }
  return { client, logs, [Symbol.asyncDispose]: () => proxy.close() };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
