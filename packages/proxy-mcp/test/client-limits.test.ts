import { describe, expect, it } from "vitest";
import { pipes } from "./support/line-client.js";
import { ALLOW_ALL, ASK_ALL, proxied, scripted } from "./support/proxied.js";

describe("requests of a client", () => {
  it("are refused while their id is in use, whatever they ask", async () => {
    const p = proxied({ policy: ASK_ALL });
    await p.client.handshake();
    p.client.send({ id: 1, method: "tools/call", params: { name: "echo", arguments: {} } });
    await p.channel.question(0);
    p.client.send({ id: 1, method: "ping" });
    expect((await p.client.find(({ id }) => id === 1)).message.error?.message).toBe(
      "Cannot accept the request: its id is in use",
    );
    await p.proxy.close();
  });

  it("are refused where too many wait", async () => {
    const p = proxied({
      policy: ALLOW_ALL,
      upstreams: [{ name: "fs", command: scripted({ silent: true }) }],
    });
    p.client.raw(
      Array.from(
        { length: 10_001 },
        (_, id) => `${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n`,
      ).join(""),
    );
    expect((await p.client.find(({ error }) => error !== undefined)).message).toMatchObject({
      id: 10_000,
      error: { message: "Cannot accept the request: 10000 are waiting for an answer" },
    });
    await p.proxy.close();
  });

  it("are not read while the server reads nothing", async () => {
    const { input, output, client } = pipes();
    const p = proxied({
      policy: ALLOW_ALL,
      input,
      output,
      upstreams: [{ name: "fs", command: [process.execPath, "-e", "setInterval(() => {}, 1000)"] }],
    });
    for (let id = 0; id < 200; id++)
      client.send({ id, method: "ping", params: { text: "x".repeat(10_000) } });
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const left = () => input.readableLength + input.writableLength;
    // A stream that is read in turns stands still for a few.
    for (let still = 0; still < 50; still = input.isPaused() ? still + 1 : 0) await turn();
    const before = left();
    client.raw("[]\n");
    for (let count = 0; count < 50; count++) await turn();
    expect(client.lines).toEqual([]);
    expect(left()).toBe(before + 3);
    await p.proxy.close();
  });
});
