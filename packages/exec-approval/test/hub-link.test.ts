/** The hub's link to its clients, with a hub in the test's hands. */
import { describe, expect, it } from "vitest";
import { createHubLink, type HubLink } from "../src/hub-link.js";
import type { GatewayClient } from "../src/gateway-client.js";
import type {
  ExecApprovalEnd,
  ExecApprovalResolver,
  ResolveExecApprovalParams,
} from "../src/protocol.js";
import { createWorld, payloadOf, until, type World } from "./support/world.js";

const METHOD = "resolveExecApproval";
const PARAMS = {
  approvalId: "019444a0-1234-7abc-8000-abcdef123456",
  decision: "allow-once",
} as const;

interface Linked extends AsyncDisposable {
  readonly world: World;
  readonly link: HubLink;
  readonly phone: GatewayClient;
  readonly calls: readonly (ResolveExecApprovalParams & { readonly from: string })[];
}

async function linked(resolve?: ExecApprovalResolver["resolveExecApproval"]): Promise<Linked> {
  const world = await createWorld();
  const [hub, phone] = [world.device("hub"), world.device("phone")];
  const link = createHubLink({ client: hub, clients: ["phone", "laptop"] });
  const calls: (ResolveExecApprovalParams & { from: string })[] = [];
  if (resolve !== undefined)
    link.serve({
      resolveExecApproval(params, by) {
        calls.push({ ...params, ...by });
        return resolve(params, by);
      },
    });
  await Promise.all([hub.connect(), phone.connect()]);
  return { world, link, phone, calls, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

describe("a call of a client", () => {
  it("reaches the hub with who the gateway says it is from", async () => {
    await using at = await linked(async () => ({
      ok: true,
      payload: { ok: true, stored: "npm **" },
    }));
    expect(await at.phone.request("hub", METHOD, { ...PARAMS })).toEqual({
      ok: true,
      payload: { ok: true, stored: "npm **" },
    });
    expect(at.calls).toEqual([{ ...PARAMS, from: "phone" }]);
  });

  it.each([
    ["another method", "listSecrets", {}, "METHOD_NOT_FOUND"],
    ["an unknown parameter", METHOD, { ...PARAMS, from: "laptop" }, "INVALID_PARAMS"],
    ["a decision that is none", METHOD, { ...PARAMS, decision: "allow" }, "INVALID_PARAMS"],
  ])("with %s does not", async (_name, method, params, code) => {
    await using at = await linked(async () => ({ ok: true, payload: { ok: true } }));
    expect(await at.phone.request("hub", method, params)).toMatchObject({
      ok: false,
      error: { code },
    });
    expect(at.calls).toEqual([]);
  });

  it("before there is a hub is told so", async () => {
    await using at = await linked();
    expect(await at.phone.request("hub", METHOD, { ...PARAMS })).toMatchObject({
      ok: false,
      error: { code: "NOT_READY" },
    });
  });

  it("is told nothing of what went wrong inside", async () => {
    await using at = await linked(() => Promise.reject(new Error("password=hunter2")));
    expect(await at.phone.request("hub", METHOD, { ...PARAMS })).toEqual({
      ok: false,
      error: { code: "INTERNAL_ERROR", message: "The hub failed" },
    });
  });

  it("is not heard any more by a link that is closed", async () => {
    await using at = await linked(async () => ({ ok: true, payload: { ok: true } }));
    at.link.close();
    await expect(
      at.phone.request("hub", METHOD, { ...PARAMS }, { timeoutMs: 200 }),
    ).rejects.toMatchObject({ code: "part_timeout" });
    expect(at.calls).toEqual([]);
  });
});

describe("HubLink.send()", () => {
  const never = new Promise<ExecApprovalEnd>(() => undefined);

  it("resolves when one of its clients has the request, and fails where none can", async () => {
    await using at = await linked();
    await at.link.send(payloadOf(), { ended: never }); // phone is there, laptop is not
    await at.phone.close();
    await until(() => expect(at.world.gateway.connected()).toEqual(["hub"]));
    await expect(at.link.send(payloadOf(), { ended: never })).rejects.toMatchObject({
      code: "channel_unavailable",
    });
  });

  it("shows nothing again that could not be shown, or that is over", async () => {
    await using at = await linked();
    await at.phone.close();
    await until(() => expect(at.world.gateway.connected()).toEqual(["hub"]));
    await at.link
      .send(payloadOf({ command: "never shown" }), { ended: never })
      .catch(() => undefined);
    const laptop = at.world.device("laptop");
    const seen: string[] = [];
    laptop.onMessage((message) => {
      if (message.action === "exec-approval-request") seen.push(message.payload.command);
      if (message.action === "exec-approval-ended") seen.push(message.payload.outcome);
    });
    await laptop.connect();
    let end = (_outcome: ExecApprovalEnd): void => undefined;
    await at.link.send(payloadOf({ command: "over soon" }), {
      ended: new Promise((resolve) => (end = resolve)),
    });
    end("denied");
    await until(() => expect(seen.at(-1)).toBe("denied"));
    // A client that was just coming may be shown a request twice; it knows it by its id.
    expect([...new Set(seen)]).toEqual(["over soon", "denied"]);
    const again = at.world.device("phone");
    const shown: string[] = [];
    again.onMessage((message) => {
      if (message.action === "exec-approval-request") shown.push(message.payload.command);
    });
    await again.connect();
    await at.link.send(payloadOf({ command: "open" }), { ended: never });
    await until(() => expect(shown.at(-1)).toBe("open"));
    expect([...new Set(shown)]).toEqual(["open"]);
  });
});
