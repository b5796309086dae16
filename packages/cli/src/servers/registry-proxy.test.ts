import { once } from "node:events";
import { createServer, request } from "node:http";
import { createServer as createListener } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { makeRegistryProxy } from "./registry-proxy.js";

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  // A server on a TCP port has an address of this shape.
  return (server.address() as AddressInfo).port;
}

it("makeRegistryProxy() leads to registries for reading, nowhere else, and nowhere once it is cut", async () => {
  const [registry, other] = await Promise.all(
    [1, 2].map(() => listen(createServer((_request, response) => response.end("reached")))),
  );
  const proxy = makeRegistryProxy([`127.0.0.1:${registry}`]);
  const port = await listen(createListener((socket) => proxy.take(socket)));
  const ask = async (method: string, to: number | undefined): Promise<number | undefined> => {
    const sent = request({
      host: "127.0.0.1",
      port,
      method,
      path: `http://127.0.0.1:${to}/x`,
      headers: { host: `127.0.0.1:${to}` },
      agent: false,
    });
    sent.end();
    const [response] = (await once(sent, "response")) as [
      { readonly statusCode?: number; resume(): void },
    ];
    response.resume();
    return response.statusCode;
  };
  expect(await ask("GET", registry)).toBe(200);
  expect(await ask("PUT", registry)).toBe(403);
  expect(await ask("GET", other)).toBe(403);
  expect(proxy.refusedHosts()).toEqual([`127.0.0.1:${other}`]);
  await proxy.cut();
  expect(await ask("GET", registry)).toBe(503);
});
