/**
 * Code of others that is told of what happens, and throws: nothing but what it wanted to do is
 * lost.
 */
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createApprovalInbox } from "../src/approval-inbox.js";
import { hashDeviceToken, makeDeviceToken } from "../src/device-token.js";
import { GatewayClient } from "../src/gateway-client.js";
import { createGateway } from "../src/gateway.js";
import { createWorld, payloadOf, until, watch } from "./support/world.js";

const fail = (): never => {
  throw new Error("the log is full");
};

describe("a listener that throws", () => {
  it("at a client's connection is told to the others, and the connection stands", async () => {
    await using world = await createWorld();
    const hub = world.device("hub");
    hub.onEvent(fail);
    const events = watch(hub);
    await hub.connect();
    expect(hub.isConnected).toBe(true);
    await until(() => expect(events.map(({ type }) => type)).toEqual(["problem", "connected"]));
    await hub.close();
    expect(events.at(-1)).toEqual({ type: "closed", reason: "closed" });
  });

  it("at a gateway costs nobody a connection, nor its end", async () => {
    const token = makeDeviceToken();
    await using gateway = createGateway({
      devices: [{ id: "hub", tokenHash: hashDeviceToken(token), role: "hub" }],
      onEvent: fail,
    });
    const { url } = await gateway.listen();
    await using hub = new GatewayClient({ url, deviceId: "hub", token });
    await hub.connect();
    await until(() => expect(gateway.connected()).toEqual(["hub"]));
    await hub.close();
    await until(() => expect(gateway.connected()).toEqual([]));
  });

  it("at an inbox keeps no request on the list past its time", async () => {
    const clock = manualClock();
    await using world = await createWorld();
    const [hub, phone] = [world.device("hub"), world.device("phone")];
    using inbox = createApprovalInbox({ client: phone, hubDeviceId: "hub", clock });
    await Promise.all([hub.connect(), phone.connect()]);
    const payload = payloadOf({ expiresAtMs: clock.now() + 60_000 });
    await hub.send("phone", (head) => ({ ...head, action: "exec-approval-request", payload }));
    await until(() => expect(inbox.open()).toHaveLength(1));
    inbox.onChange(fail);
    await clock.advance(65_000);
    expect(inbox.open()).toEqual([]);
  });
});
