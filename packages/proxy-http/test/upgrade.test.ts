/** Requests that go over to another protocol. */
import { describe, expect, it } from "vitest";
import { hasHead, type Recorded, until } from "./support/raw.js";
import { client, errorOf, start } from "./support/started.js";

const SWITCH =
  "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n";
const upgradeTo = (port: number, protocol = "websocket"): string =>
  `GET http://127.0.0.1:${port}/chat HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: keep-alive, Upgrade\r\nUpgrade: ${protocol}\r\n` +
  "Sec-WebSocket-Key: k\r\n\r\n";
const UPGRADES = { proxy: { upgradeHosts: ["127.0.0.1"] } };

const once = (answer: string): ((connection: Recorded) => void) => {
  const done = new WeakSet<object>();
  return (connection) => {
    if (!hasHead(connection) || done.has(connection)) return;
    done.add(connection);
    connection.socket.write(answer);
  };
};

describe("an upgrade", () => {
  it("where a rule says so carries both ways what follows", async () => {
    const { port, host } = await start({ ...UPGRADES, onData: once(`${SWITCH}first`) });
    const raw = await client(port);
    raw.write(upgradeTo(host.port));
    await raw.sees("first");
    expect(raw.text()).toBe(
      "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst",
    );
    const connection = await host.connection(0);
    expect(connection.text()).toBe(
      `GET /chat HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\nSec-WebSocket-Key: k\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    raw.write("up");
    await until(() => connection.text().endsWith("up"), "for what follows");
    connection.socket.end("down");
    await raw.sees("firstdown");
    raw.end();
    await until(() => host.open() === 0, "for the end");
  });

  it("anywhere else is refused, and reaches nobody", async () => {
    const { port, host, audit } = await start({ onData: once(SWITCH) });
    const raw = await client(port);
    raw.write(upgradeTo(host.port));
    const text = await raw.ended();
    expect(audit.events().at(-1)).toMatchObject({
      eventType: "tool_call_completed",
      metadata: { outcome: "failed" },
    });
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(errorOf(text)).toMatchObject({
      code: "request_invalid",
      reason: expect.stringContaining("upgradeHosts"),
    });
    expect(host.connections).toHaveLength(0);
  });

  it("with a secret is refused also where a rule says so: nobody would mask what comes back", async () => {
    const { port, host } = await start({ ...UPGRADES, onData: once(SWITCH) });
    const raw = await client(port);
    raw.write(
      upgradeTo(host.port).replace(
        "\r\n\r\n",
        "\r\nAuthorization: Bearer {{secret:TOKEN}}\r\n\r\n",
      ),
    );
    expect(errorOf(await raw.ended())).toMatchObject({
      code: "request_invalid",
      reason: expect.stringContaining("secrets"),
    });
    expect(host.connections).toHaveLength(0);
  });

  it("to HTTP/2 is refused everywhere", async () => {
    const { port, host } = await start({ ...UPGRADES, onData: once(SWITCH) });
    for (const protocol of ["h2c", "H2C"]) {
      const raw = await client(port);
      raw.write(upgradeTo(host.port, protocol));
      expect(errorOf(await raw.ended())).toMatchObject({
        code: "request_invalid",
        reason: expect.stringContaining("HTTP/2"),
      });
    }
    expect(host.connections).toHaveLength(0);
  });

  it("that the host declines is answered as it says", async () => {
    const { port, host } = await start({
      ...UPGRADES,
      onData: once("HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\n\r\nno"),
    });
    const raw = await client(port);
    raw.write(upgradeTo(host.port));
    const text = await raw.ended();
    expect(text).toMatch(/^HTTP\/1\.1 426 Upgrade Required\r\n/);
    expect(text).toMatch(/\r\n\r\nno$/);
    await until(() => host.open() === 0, "for the host's side");
  });

  it("that the host breaks off is an error", async () => {
    const { port, host } = await start({
      ...UPGRADES,
      onData: ({ socket }) => void socket.resetAndDestroy(),
    });
    const raw = await client(port);
    raw.write(upgradeTo(host.port));
    expect(errorOf(await raw.ended())).toMatchObject({ code: "upstream_unreachable" });
  });

  it("that is denied reaches nobody", async () => {
    const { port, host } = await start({ ...UPGRADES, policy: { version: "1", default: "deny" } });
    const raw = await client(port);
    raw.write(upgradeTo(host.port));
    expect(errorOf(await raw.ended())).toMatchObject({ code: "policy_denied" });
    expect(host.connections).toHaveLength(0);
  });
});
