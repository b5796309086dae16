/**
 * What a device that misbehaves costs: its own connection, and nobody else anything. Real sockets.
 */
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { encodeMessage, MESSAGE_BYTES_MAX } from "../src/codec.js";
import { MESSAGES_AT_ONCE_MAX } from "../src/gateway-connection.js";
import { HEARTBEAT_MS } from "../src/keep-alive.js";
import type { Message } from "../src/protocol.js";
import { ask, call, parsed } from "./support/messages.js";
import { createWorld, payloadOf, until } from "./support/world.js";

describe("a device that misbehaves loses its connection", () => {
  it.each([
    [
      "says that it is another device",
      "phone",
      encodeMessage(call("laptop", "hub")),
      1008,
      "from is another device",
    ],
    [
      "says that it is the hub",
      "phone",
      encodeMessage(ask("hub", "laptop")),
      1008,
      "from is another device",
    ],
    [
      "says that it is the gateway",
      "phone",
      encodeMessage(call("gateway", "hub")),
      1008,
      "from is another device",
    ],
    [
      "asks for a decision, and is a client",
      "phone",
      encodeMessage(ask("phone", "hub")),
      1008,
      "a client does not send this",
    ],
    [
      "calls, and is a hub",
      "hub",
      encodeMessage(call("hub", "phone")),
      1008,
      "a hub does not send this",
    ],
    [
      "answers a call, and is a client",
      "phone",
      encodeMessage({
        ...call("phone", "hub"),
        action: "response",
        payload: { requestId: "r", ok: true, payload: {} },
      }),
      1008,
      "a client does not send this",
    ],
    [
      "speaks for the gateway",
      "hub",
      encodeMessage({
        ...call("hub", "phone"),
        action: "presence",
        payload: { deviceId: "x", online: true },
      }),
      1008,
      "a hub does not send this",
    ],
    ["sends no JSON", "phone", "{", 1007, "json_invalid"],
    ["sends what is no message", "phone", "{}", 1007, "message_invalid"],
    [
      "sends a key twice",
      "phone",
      encodeMessage(call("phone", "hub")).replace("{", '{"from":"hub",'),
      1007,
      "json_duplicate_key",
    ],
    ["sends bytes that are no text", "phone", Buffer.from("{}"), 1003, "messages are text"],
  ])("that %s", async (_name, who, sent, code, reason) => {
    await using world = await createWorld();
    const other = await world.raw(who === "hub" ? "phone" : "hub");
    const device = await world.raw(who);
    device.socket.send(sent);
    expect(await device.closed).toEqual({ code, reason });
    await until(() => expect(world.gateway.connected()).not.toContain(who));
    // It came and it went: nothing else reached the other side.
    await until(() =>
      expect(parsed(other.received).at(-1)).toMatchObject({
        action: "presence",
        payload: { online: false },
      }),
    );
    expect(parsed(other.received).map(({ action }) => action)).toEqual(["presence", "presence"]);
  });

  it("that sends more than a message may have", async () => {
    await using world = await createWorld();
    const device = await world.raw("phone");
    device.socket.send("x".repeat(MESSAGE_BYTES_MAX + 1));
    expect((await device.closed).code).toBe(1009);
  });

  it("that goes on sending after its last word: nothing of it counts", async () => {
    await using world = await createWorld();
    const hub = await world.raw("hub");
    const device = await world.raw("phone");
    device.socket.send("{");
    device.socket.send(encodeMessage(call("phone", "hub")));
    expect((await device.closed).code).toBe(1007);
    await until(() =>
      expect(parsed(hub.received).at(-1)).toMatchObject({
        action: "presence",
        payload: { online: false },
      }),
    );
    expect(parsed(hub.received).map(({ action }) => action)).toEqual(["presence", "presence"]);
  });

  it("that sends too much at once; time gives it back", async () => {
    const clock = manualClock();
    await using world = await createWorld({ clock });
    const device = await world.raw("phone");
    const send = (count: number): void => {
      for (let sent = 0; sent < count; sent++)
        device.socket.send(encodeMessage(call("phone", "hub", `m-${sent}`)));
    };
    const answers = (): number =>
      parsed(device.received).filter(({ action }) => action === "response").length;
    send(MESSAGES_AT_ONCE_MAX);
    await until(() => expect(answers()).toBe(MESSAGES_AT_ONCE_MAX));
    await clock.advance(1_000);
    send(10);
    await until(() => expect(answers()).toBe(MESSAGES_AT_ONCE_MAX + 10));
    send(MESSAGES_AT_ONCE_MAX);
    expect(await device.closed).toEqual({ code: 1008, reason: "too many messages" });
  });

  it("that reads nothing, when too much waits for it; the hub hears of it and others are served", async () => {
    await using world = await createWorld({ clock: manualClock() });
    const hub = await world.raw("hub");
    const slow = await world.raw("phone");
    const laptop = await world.raw("laptop");
    slow.socket.pause();
    const big = (id: string): string =>
      encodeMessage({
        ...ask("hub", "phone", id),
        payload: payloadOf({
          command: "x".repeat(100_000),
          riskReasons: Array.from({ length: 200 }, () => "r".repeat(4_000)),
        }),
      } as Message);
    const isGone = (): boolean => !world.gateway.connected().includes("phone");
    for (let sent = 0; sent < MESSAGES_AT_ONCE_MAX - 2 && !isGone(); sent++) {
      hub.socket.send(big(`big-${sent}`));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => expect(isGone()).toBe(true));
    await until(() => expect(JSON.stringify(parsed(hub.received))).toContain("UNREACHABLE"));
    hub.socket.send(encodeMessage(ask("hub", "laptop", "last")));
    await until(() => expect(parsed(laptop.received).map(({ id }) => id)).toContain("last"));
  });

  it("that is silent for two heartbeats", async () => {
    const clock = manualClock();
    await using world = await createWorld({ clock });
    const hub = await world.raw("hub");
    const silent = await world.raw("phone");
    silent.socket.pause(); // its pongs do not come, as after a cable was pulled
    const pinged = new Promise((resolve) => hub.socket.once("ping", resolve));
    await clock.advance(HEARTBEAT_MS);
    await pinged;
    // The hub's pong is on its way; it must be heard before the next beat.
    hub.socket.send(encodeMessage(ask("hub", "nobody")));
    await until(() =>
      expect(parsed(hub.received).map(({ action }) => action)).toContain("receipt"),
    );
    await clock.advance(HEARTBEAT_MS);
    await until(() => expect(world.gateway.connected()).toEqual(["hub"]));
    await until(() =>
      expect(parsed(hub.received).at(-1)).toMatchObject({
        payload: { deviceId: "phone", online: false },
      }),
    );
  });
});
