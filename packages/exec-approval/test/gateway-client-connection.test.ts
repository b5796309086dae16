/** A device's connection to the gateway: its losses, returns and end, over real sockets. */
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { makeDeviceToken } from "../src/device-token.js";
import { GatewayClient } from "../src/gateway-client.js";
import { HEARTBEAT_MS } from "../src/keep-alive.js";
import { createWorld, until, watch } from "./support/world.js";
import { saying } from "./support/saying.js";

const METHOD = "resolveExecApproval";

describe("the connection", () => {
  it("comes back after each loss, a little later each time, and says so", async () => {
    await using world = await createWorld();
    const phone = world.device("phone");
    const events = watch(phone);
    await phone.connect();
    await world.restart();
    await until(() =>
      expect(events.map(({ type }) => type)).toEqual(["connected", "disconnected", "connected"]),
    );
    expect(events[1]).toEqual({
      type: "disconnected",
      reason: "closed with code 1001",
      retryInMs: 250,
    });
  });

  it("is not tried again with a token that the gateway does not know", async () => {
    await using world = await createWorld();
    const phone = world.device("phone", { token: makeDeviceToken() });
    const events = watch(phone);
    await expect(phone.connect()).rejects.toMatchObject({ code: "channel_unavailable" });
    expect(events).toEqual([{ type: "closed", reason: "refused" }]);
    await expect(phone.request("hub", METHOD, {})).rejects.toMatchObject({
      code: "channel_unavailable",
    });
  });

  it("is left to a newer one of the same device, so that two do not fight", async () => {
    await using world = await createWorld();
    const [older, newer] = [world.device("phone"), world.device("phone")];
    const events = watch(older);
    await older.connect();
    await newer.connect();
    await until(() => expect(events.at(-1)).toEqual({ type: "closed", reason: "replaced" }));
    expect(newer.isConnected).toBe(true);
  });

  it("is cut where the gateway is silent for two heartbeats", async () => {
    const clock = manualClock();
    await using gateway = { ...(await saying()), [Symbol.asyncDispose]: () => gateway.close() };
    const mute = new WebSocketServer({ port: 0, host: "127.0.0.1", autoPong: false });
    await new Promise((resolve) => mute.once("listening", resolve));
    const address = mute.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await using phone = new GatewayClient({
      url: `ws://127.0.0.1:${port}`,
      deviceId: "phone",
      token: makeDeviceToken(),
      clock,
      random: () => 1,
    });
    const events = watch(phone);
    await phone.connect();
    await clock.advance(HEARTBEAT_MS);
    expect(phone.isConnected).toBe(true);
    await clock.advance(HEARTBEAT_MS);
    await until(() =>
      expect(events.at(-1)).toEqual({
        type: "disconnected",
        reason: "closed with code 1006",
        retryInMs: 500,
      }),
    );
    mute.clients.forEach((socket) => socket.terminate());
    mute.close();
  });

  it("waits for a gateway that starts later, until its caller gives up", async () => {
    await using world = await createWorld();
    await world.stopGateway();
    const phone = world.device("phone");
    const given = new AbortController();
    const first = phone.connect({ signal: given.signal });
    given.abort();
    await expect(first).rejects.toMatchObject({ code: "aborted" });
    const second = phone.connect();
    await world.restart();
    await second;
    expect(phone.isConnected).toBe(true);
  });

  it("is closed once and for all", async () => {
    await using world = await createWorld();
    const phone = world.device("phone");
    await phone.connect();
    await phone.close();
    await until(() => expect(world.gateway.connected()).toEqual([]));
    await phone.close();
    const unborn = world.device("phone");
    await unborn.close();
    await expect(unborn.connect()).rejects.toMatchObject({ code: "channel_unavailable" });
  });
});
