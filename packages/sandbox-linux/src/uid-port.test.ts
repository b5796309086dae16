import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { holdPort, listenOnLoopback, stopListening } from "./uid-port.js";

describe("listenOnLoopback()", () => {
  it("listens on 127.0.0.1, and says which port it is", async () => {
    const { port, server } = await listenOnLoopback(0);
    expect(server.address()).toMatchObject({ address: "127.0.0.1", port });
    await stopListening(server);
  });

  it("refuses a port that somebody has", async () => {
    const { port, server } = await listenOnLoopback(0);
    await expect(listenOnLoopback(port)).rejects.toMatchObject({ code: "sandbox_failed" });
    await stopListening(server);
  });
});

describe("holdPort()", () => {
  it("cuts off whoever connects, and leaves the port to be listened on again", async () => {
    const { port, server } = await holdPort(0);
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "close");
    await stopListening(server);
    await stopListening(server);
    const again = await listenOnLoopback(port);
    await stopListening(again.server);
  });
});
