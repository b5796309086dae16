import { makeResponse } from "@acp/core";
import { askDouble } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../test/temporary-home.js";
import { attachApprover } from "./attach.js";
import { createTerminalChannel } from "./terminal-channel.js";

const never = new AbortController().signal;

describe("createTerminalChannel()", () => {
  it("says at once that there is nobody to ask, with the remedy", async () => {
    await using home = await temporaryHome();
    await using channel = createTerminalChannel({ terminal: false, socketPath: home.socketPath });
    const ask = askDouble();
    await expect(channel.deliver(ask.request, ask.session)).rejects.toMatchObject({
      code: "channel_unavailable",
      message: expect.stringContaining("run `acp approve` in a second terminal") as string,
    });
    await using client = await attachApprover({ socketPath: home.socketPath, signal: never });
    expect(client.pending()).toEqual([]);
  });

  it.each([
    ["/dev/null", "it is not a terminal"],
    ["/no/such/terminal", "there is none"],
  ])("takes %s for no terminal", async (terminal, why) => {
    await using channel = createTerminalChannel({ terminal });
    const ask = askDouble();
    await expect(channel.deliver(ask.request, ask.session)).rejects.toMatchObject({
      code: "channel_unavailable",
      cause: {
        code: "channel_unavailable",
        message: `Cannot ask on the terminal "${terminal}": ${why}`,
      },
    });
  });

  it("keeps a question that is shown again for who attaches later", async () => {
    await using home = await temporaryHome();
    await using channel = createTerminalChannel({ terminal: false, socketPath: home.socketPath });
    const ask = askDouble();
    await channel.deliver(ask.request, { ...ask.session, redelivery: true });
    await using client = await attachApprover({ socketPath: home.socketPath, signal: never });
    expect(client.pending().map(({ request }) => request.id)).toEqual([ask.request.id]);
    await client.answer(
      makeResponse(ask.request, { decision: "denied", nowMs: Date.now(), channel: "terminal" }),
    );
    expect(ask.ending()?.status).toBe("denied");
  });

  it("does not take a viewer for somebody to ask", async () => {
    await using home = await temporaryHome();
    await using channel = createTerminalChannel({ terminal: false, socketPath: home.socketPath });
    await channel.ready;
    await using viewer = await attachApprover({
      socketPath: home.socketPath,
      signal: never,
      role: "viewer",
    });
    const ask = askDouble();
    await expect(channel.deliver(ask.request, ask.session)).rejects.toMatchObject({
      code: "channel_unavailable",
    });
    expect(viewer.pending()).toEqual([]);
  });

  it("delivers to an attached client and hands its answer in", async () => {
    await using home = await temporaryHome();
    await using channel = createTerminalChannel({ terminal: false, socketPath: home.socketPath });
    await channel.ready;
    await using client = await attachApprover({ socketPath: home.socketPath, signal: never });
    expect(channel.attached()).toBe(1);
    const ask = askDouble();
    await channel.deliver(ask.request, ask.session);
    await expect.poll(() => client.pending().length).toBe(1);
    await client.answer(
      makeResponse(ask.request, { decision: "approved", nowMs: Date.now(), channel: "terminal" }),
    );
    expect(ask.ending()?.status).toBe("approved");
  });

  it("keeps a question open whose only client left, and shows it to the next one", async () => {
    await using home = await temporaryHome();
    await using channel = createTerminalChannel({ terminal: false, socketPath: home.socketPath });
    await channel.ready;
    const first = await attachApprover({ socketPath: home.socketPath, signal: never });
    const ask = askDouble();
    await channel.deliver(ask.request, ask.session);
    await first.close();
    await expect.poll(channel.attached).toBe(0);
    expect(ask.ending()).toBeUndefined();
    await using second = await attachApprover({ socketPath: home.socketPath, signal: never });
    expect(second.pending().map(({ request }) => request.id)).toEqual([ask.request.id]);
  });

  it("says why its socket does not listen, and then has nobody to ask", async () => {
    await using home = await temporaryHome();
    await using first = createTerminalChannel({ terminal: false, socketPath: home.socketPath });
    await first.ready;
    const warnings: string[] = [];
    await using second = createTerminalChannel({
      terminal: false,
      socketPath: home.socketPath,
      warn: (message) => warnings.push(message),
    });
    await expect(second.ready).rejects.toMatchObject({
      code: "channel_failed",
      message: expect.stringContaining("another gate listens there") as string,
    });
    expect(warnings).toHaveLength(1);
    const ask = askDouble();
    await expect(second.deliver(ask.request, ask.session)).rejects.toMatchObject({
      code: "channel_unavailable",
    });
  });

  it("close() takes no more questions, and may be called again", async () => {
    await using home = await temporaryHome();
    const channel = createTerminalChannel({ terminal: false, socketPath: home.socketPath });
    await channel.close();
    await channel.close();
    const ask = askDouble();
    await expect(channel.deliver(ask.request, ask.session)).rejects.toMatchObject({
      code: "channel_unavailable",
      message: expect.stringContaining("is closed") as string,
    });
  });
});
