import { once } from "node:events";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { createPressure } from "./pressure.js";

/** A response whose client reads nothing. */
async function unread(): Promise<ServerResponse> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  onTestFinished(() => {
    socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  socket.pause();
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const [, response] = (await once(server, "request")) as [unknown, ServerResponse];
  return response;
}

it("end() waits for a client as write() does, and destroys what is not read in time", async () => {
  const response = await unread();
  const pressure = createPressure(10);
  pressure.end(response, Buffer.alloc(32 * 1024 * 1024));
  const paused = pressure.pause();
  expect(paused).toBeDefined();
  await once(response, "close");
  await paused;
  expect(response.destroyed).toBe(true);
  expect(pressure.pause()).toBeUndefined();
});
