/** A device's end of the gateway: calls, pushes and what it hears, over real sockets. */
import { isConsentError } from "@acp/core";
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { makeDeviceToken } from "../src/device-token.js";
import { GatewayClient, type IncomingCall, type ReceivedMessage } from "../src/gateway-client.js";
import { createWorld, payloadOf, until, watch, type World } from "./support/world.js";
import { saying } from "./support/saying.js";

const METHOD = "resolveExecApproval";

/** A hub that keeps the calls it gets. */
async function keepingHub(
  world: World,
): Promise<{ readonly hub: GatewayClient; readonly calls: readonly IncomingCall[] }> {
  const hub = world.device("hub");
  const calls: IncomingCall[] = [];
  hub.onMessage((message) => {
    if (message.action === "request") calls.push(message);
  });
  await hub.connect();
  return { hub, calls };
}

/** The code that a promise rejects with. */
const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "resolved",
    (error: unknown) => (isConsentError(error) ? error.code : error),
  );

describe("GatewayClient.request()", () => {
  it("gives back what the other side says, be it a yes or an error", async () => {
    await using world = await createWorld();
    const { hub, calls } = await keepingHub(world);
    const phone = world.device("phone");
    await phone.connect();
    const first = phone.request("hub", METHOD, { approvalId: "a", decision: "deny" });
    await until(() => expect(calls).toHaveLength(1));
    expect(calls[0]).toMatchObject({
      from: "phone",
      to: "hub",
      payload: { method: METHOD, params: { approvalId: "a", decision: "deny" } },
    });
    await hub.respond(calls[0] as IncomingCall, { ok: true, payload: { ok: true } });
    expect(await first).toEqual({ ok: true, payload: { ok: true } });
    const second = phone.request("hub", METHOD, {});
    await until(() => expect(calls).toHaveLength(2));
    await hub.respond(calls[1] as IncomingCall, {
      ok: false,
      error: { code: "NOT_FOUND", message: "gone" },
    });
    expect(await second).toEqual({ ok: false, error: { code: "NOT_FOUND", message: "gone" } });
  });

  it("says UNREACHABLE where the hub is not there", async () => {
    await using world = await createWorld();
    const phone = world.device("phone");
    await phone.connect();
    expect(await phone.request("hub", METHOD, {})).toMatchObject({
      ok: false,
      error: { code: "UNREACHABLE" },
    });
  });

  it("takes an answer of nobody but the device that was called", async () => {
    // The gateway would not carry these; a client relies on its own check as well.
    await using gateway = { ...(await saying()), [Symbol.asyncDispose]: () => gateway.close() };
    let count = 0;
    await using phone = new GatewayClient({
      url: gateway.url,
      deviceId: "phone",
      token: makeDeviceToken(),
      nextId: () => `id-${count++}`,
    });
    await phone.connect();
    const asked = phone.request("hub", METHOD, {});
    const reply = (from: string, requestId: string): string =>
      JSON.stringify({
        id: "x",
        from,
        to: "phone",
        action: "response",
        payload: { requestId, ok: true, payload: { from } },
      });
    gateway.say(reply("laptop", "id-0"));
    gateway.say(reply("hub", "id-7"));
    gateway.say(reply("hub", "id-0"));
    expect(await asked).toEqual({ ok: true, payload: { from: "hub" } });
  });

  it("ends with its time, its signal or its client, and says that it is not known what became of it", async () => {
    const clock = manualClock();
    await using world = await createWorld({ clock });
    const { calls } = await keepingHub(world);
    const phone = world.device("phone");
    await phone.connect();
    const late = phone.request("hub", METHOD, {}, { timeoutMs: 1_000 });
    const lateEnd = codeOf(late);
    await until(() => expect(calls).toHaveLength(1));
    await clock.advance(1_000);
    expect(await lateEnd).toBe("part_timeout");
    const taken = new AbortController();
    const aborted = phone.request("hub", METHOD, {}, { signal: taken.signal });
    taken.abort(new Error("not any more"));
    await expect(aborted).rejects.toMatchObject({ code: "aborted" });
    await expect(phone.request("hub", METHOD, {}, { signal: taken.signal })).rejects.toMatchObject({
      code: "aborted",
    });
    const left = phone.request("hub", METHOD, {});
    const leftEnd = codeOf(left);
    await phone.close();
    expect(await leftEnd).toBe("channel_unavailable");
  });

  it("waits while the gateway is away, and goes out when it is back", async () => {
    await using world = await createWorld();
    const { hub, calls } = await keepingHub(world);
    const phone = world.device("phone");
    const events = watch(phone);
    await phone.connect();
    await world.stopGateway();
    await until(() => expect(events.map(({ type }) => type)).toContain("disconnected"));
    expect(phone.isConnected).toBe(false);
    const waiting = phone.request("hub", METHOD, { approvalId: "a" });
    await world.restart();
    await until(() => expect(calls.length).toBeGreaterThan(0));
    await hub.respond(calls[0] as IncomingCall, { ok: true, payload: { ok: true } });
    expect(await waiting).toEqual({ ok: true, payload: { ok: true } });
  });

  it("goes out again under the same id when the hub comes back before it answered", async () => {
    await using world = await createWorld();
    const { hub, calls } = await keepingHub(world);
    const phone = world.device("phone");
    await phone.connect();
    const waiting = phone.request("hub", METHOD, {});
    await until(() => expect(calls).toHaveLength(1));
    await hub.close();
    const again = await keepingHub(world);
    await until(() => expect(again.calls).toHaveLength(1));
    expect(again.calls[0]?.payload.requestId).toBe(calls[0]?.payload.requestId);
    await again.hub.respond(again.calls[0] as IncomingCall, { ok: true, payload: {} });
    expect((await waiting).ok).toBe(true);
  });

  it("holds no more than 256 calls", async () => {
    await using world = await createWorld();
    const phone = world.device("phone");
    const calls = Array.from({ length: 256 }, () =>
      phone.request("hub", METHOD, {}).catch(() => undefined),
    );
    await expect(phone.request("hub", METHOD, {})).rejects.toMatchObject({
      code: "channel_unavailable",
    });
    await phone.close();
    await Promise.all(calls);
  });
});

describe("GatewayClient.send()", () => {
  it("resolves when the gateway took it, and fails at once where nobody is there", async () => {
    await using world = await createWorld();
    const hub = world.device("hub");
    const payload = payloadOf();
    const send = (): Promise<void> =>
      hub.send("phone", (head) => ({ ...head, action: "exec-approval-request", payload }));
    await expect(send()).rejects.toMatchObject({ code: "channel_unavailable" }); // not connected
    await hub.connect();
    await expect(send()).rejects.toMatchObject({ code: "channel_unavailable" }); // no phone
    const phone = world.device("phone");
    const got: ReceivedMessage[] = [];
    phone.onMessage((message) => got.push(message));
    await phone.connect();
    await send();
    await until(() =>
      expect(got).toContainEqual(
        expect.objectContaining({ from: "hub", action: "exec-approval-request", payload }),
      ),
    );
  });

  it("fails when the connection breaks before the receipt", async () => {
    await using gateway = { ...(await saying()), [Symbol.asyncDispose]: () => gateway.close() };
    await using hub = new GatewayClient({
      url: gateway.url,
      deviceId: "hub",
      token: makeDeviceToken(),
    });
    await hub.connect();
    const sending = hub.send("phone", (head) => ({
      ...head,
      action: "exec-approval-request",
      payload: payloadOf(),
    }));
    const end = codeOf(sending);
    await gateway.close();
    expect(await end).toBe("channel_unavailable");
  });

  it("does not send what is no message", async () => {
    await using world = await createWorld();
    const hub = world.device("hub");
    await hub.connect();
    const sending = hub.send("phone", (head) => ({
      ...head,
      action: "exec-approval-request",
      payload: payloadOf({ command: "\ud800" }),
    }));
    await expect(sending).rejects.toMatchObject({ code: "json_lone_surrogate" });
  });
});

describe("what it hears", () => {
  it("is only what is a message, for it, and the gateway's where only the gateway may say it", async () => {
    await using gateway = { ...(await saying()), [Symbol.asyncDispose]: () => gateway.close() };
    await using phone = new GatewayClient({
      url: gateway.url,
      deviceId: "phone",
      token: makeDeviceToken(),
    });
    const heard: ReceivedMessage[] = [];
    phone.onMessage((message) => heard.push(message));
    const events = watch(phone);
    await phone.connect();
    const message = {
      id: "m",
      from: "hub",
      to: "phone",
      action: "exec-approval-request",
      payload: payloadOf(),
    };
    const presence = {
      id: "m",
      from: "hub",
      to: "phone",
      action: "presence",
      payload: { deviceId: "hub", online: true },
    };
    for (const said of [
      "{",
      "{}",
      { ...message, to: "laptop" },
      { ...message, more: 1 },
      presence,
      { ...presence, action: "receipt", payload: { messageId: "m", ok: true } },
    ])
      gateway.say(typeof said === "string" ? said : JSON.stringify(said));
    gateway.say(JSON.stringify(message));
    await until(() => expect(heard).toEqual([message]));
    expect(events.map(({ type }) => type)).toEqual([
      "connected",
      ...Array.from({ length: 6 }, () => "problem"),
    ]);
    expect(phone.isConnected).toBe(true);
  });

  it("reaches every listener, though one throws, and none that left", async () => {
    await using gateway = { ...(await saying()), [Symbol.asyncDispose]: () => gateway.close() };
    await using phone = new GatewayClient({
      url: gateway.url,
      deviceId: "phone",
      token: makeDeviceToken(),
    });
    const heard: string[] = [];
    phone.onMessage(() => {
      throw new Error("mine");
    });
    phone.onMessage(({ id }) => heard.push(`a ${id}`));
    const leave = phone.onMessage(({ id }) => heard.push(`b ${id}`));
    const events = watch(phone);
    await phone.connect();
    leave();
    gateway.say(
      JSON.stringify({
        id: "m",
        from: "hub",
        to: "phone",
        action: "exec-approval-request",
        payload: payloadOf(),
      }),
    );
    await until(() => expect(heard).toEqual(["a m"]));
    expect(events.at(-1)).toMatchObject({ type: "problem", error: { message: "mine" } });
  });
});
