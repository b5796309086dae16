/** What waits for a person at a device. */
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createApprovalInbox, type InboxChange } from "../src/approval-inbox.js";
import type { ExecApprovalRequestPayload } from "../src/protocol.js";
import { createWorld, payloadOf, until } from "./support/world.js";

interface Told {
  readonly type: InboxChange["type"];
  readonly command: string;
  readonly outcome?: string;
}

async function open() {
  const clock = manualClock();
  const world = await createWorld();
  const [hub, phone] = [world.device("hub"), world.device("phone")];
  const inbox = createApprovalInbox({ client: phone, hubDeviceId: "hub", clock });
  const told: Told[] = [];
  inbox.onChange((change) => {
    const { type, request } = change;
    told.push({
      type,
      command: request.command,
      ...(change.type === "ended" ? { outcome: change.outcome } : {}),
    });
  });
  await Promise.all([hub.connect(), phone.connect()]);
  const show = (payload: ExecApprovalRequestPayload): Promise<void> =>
    hub.send("phone", (head) => ({ ...head, action: "exec-approval-request", payload }));
  const payload = (command: string): ExecApprovalRequestPayload =>
    payloadOf({ command, expiresAtMs: clock.now() + 60_000 });
  return {
    clock,
    hub,
    inbox,
    told,
    show,
    payload,
    world,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

describe("createApprovalInbox()", () => {
  it("tells of a request once, though it comes again after every reconnection", async () => {
    await using at = await open();
    const [one, other] = [at.payload("one"), at.payload("other")];
    for (const payload of [one, one, other, one]) await at.show(payload);
    await until(() => expect(at.told.at(-1)?.command).toBe("other"));
    expect(at.told.map(({ command }) => command)).toEqual(["one", "other"]);
    expect(at.inbox.open()).toEqual([one, other]);
  });

  it("takes a request off a little after its time where the hub does not say how it ended", async () => {
    await using at = await open();
    await at.show(at.payload("one"));
    await until(() => expect(at.inbox.open()).toHaveLength(1));
    await at.clock.advance(60_000);
    expect(at.inbox.open()).toHaveLength(1); // the hub's clock decides
    await at.clock.advance(5_000);
    expect(at.told.at(-1)).toEqual({ type: "ended", command: "one", outcome: "expired" });
    expect(at.inbox.open()).toEqual([]);
  });

  it("takes a request off that the hub does not know any more, and keeps one that it refused for another reason", async () => {
    await using at = await open();
    let code = "REFUSED";
    at.hub.onMessage((message) => {
      if (message.action === "request")
        void at.hub.respond(message, { ok: false, error: { code, message: "no" } });
    });
    const payload = at.payload("one");
    await at.show(payload);
    await until(() => expect(at.inbox.open()).toHaveLength(1));
    const answer = () =>
      at.inbox.answer({ approvalId: payload.approvalId, decision: "allow-once" });
    expect(await answer()).toMatchObject({ ok: false, error: { code: "REFUSED" } });
    expect(at.inbox.open()).toHaveLength(1);
    code = "NOT_FOUND";
    await answer();
    expect(at.told.at(-1)).toEqual({ type: "ended", command: "one", outcome: "unknown" });
    expect(at.inbox.open()).toEqual([]);
  });

  it("takes no reply for a yes that is none", async () => {
    await using at = await open();
    at.hub.onMessage((message) => {
      if (message.action === "request")
        void at.hub.respond(message, { ok: true, payload: { ok: false } });
    });
    await expect(at.inbox.answer({ approvalId: "x", decision: "deny" })).rejects.toMatchObject({
      code: "message_invalid",
    });
  });

  it("holds no more requests than anybody reads", async () => {
    const network = manualClock();
    await using world = await createWorld({ clock: network });
    const [hub, phone] = [world.device("hub"), world.device("phone")];
    using inbox = createApprovalInbox({ client: phone, hubDeviceId: "hub", clock: manualClock() });
    let last = "";
    phone.onMessage((message) => {
      if (message.action === "exec-approval-request") last = message.payload.command;
    });
    await Promise.all([hub.connect(), phone.connect()]);
    for (let at = 0; at < 1_010; at++) {
      // The gateway lets 128 messages through at once, and more as time passes.
      if (at % 100 === 99) await network.advance(2_000);
      await hub.send("phone", (head) => ({
        ...head,
        action: "exec-approval-request",
        payload: payloadOf({ command: `c-${at}` }),
      }));
    }
    await until(() => expect(last).toBe("c-1009"));
    expect(inbox.open()).toHaveLength(1_000);
  });

  it("hears nothing any more once it is closed", async () => {
    await using at = await open();
    at.inbox.close();
    await at.show(at.payload("one"));
    await at.show(at.payload("two"));
    expect(at.told).toEqual([]);
  });
});
