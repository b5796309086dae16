/** Listening, sockets that are handed over, and closing. */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import type { HttpConsentProxy } from "../src/server.js";
import { hasHead, until } from "./support/raw.js";
import {
  client,
  errorOf,
  later,
  start,
  type Started,
  type StartOptions,
} from "./support/started.js";

const get = (port: number): string =>
  `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const answering: StartOptions = {
  onData: (connection) => hasHead(connection) && connection.socket.write(OK),
};

describe("listen()", () => {
  it("takes a free port on loopback, and one more address", async () => {
    const { proxy, port, host } = await start(answering);
    const second = await proxy.listen({ port: 0, host: "127.0.0.2" });
    expect(second.port).not.toBe(port);
    const raw = await client(port);
    raw.write(get(host.port));
    await raw.sees("\r\n\r\nok");
  });

  it("on other addresses wants credentials from everybody", async () => {
    const { proxy } = await start();
    for (const host of ["0.0.0.0", "192.0.2.1", "::", "localhost", ""])
      await expect(proxy.listen({ port: 0, host })).rejects.toMatchObject({
        code: "options_invalid",
      });
  });

  it("says where it cannot, and the proxy goes on", async () => {
    const { proxy, port } = await start();
    await expect(proxy.listen({ port })).rejects.toMatchObject({ code: "EADDRINUSE" });
    await client(port);
  });
});

describe("a request", () => {
  it("whose Host names another place than its target reaches neither", async () => {
    const { port, host, audit } = await start(answering);
    const raw = await client(port);
    raw.write(get(host.port).replace(`Host: 127.0.0.1:${host.port}`, "Host: other.example"));
    await raw.sees("its Host differs from its target");
    expect(raw.text()).toMatch(/^HTTP\/1\.1 400 /);
    expect([host.connections.length, audit.events().length]).toEqual([0, 0]);
  });
});

const NOBODY = { agent: { id: "" } };

/** A socket that somebody else accepted, and the client at its other end. */
async function handedOver(
  { proxy }: Started,
  caller: Parameters<HttpConsentProxy["attach"]>[1] = { agent: { id: "sandboxed" } },
): Promise<{ raw: Awaited<ReturnType<typeof client>>; socket: Socket }> {
  const server = createServer({ allowHalfOpen: true });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  later(() => void server.close());
  const accepted = once(server, "connection");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("unreachable");
  const raw = await client(address.port);
  const [socket] = (await accepted) as [Socket];
  if (caller === NOBODY) proxy.attach(socket);
  else proxy.attach(socket, caller);
  return { raw, socket };
}

describe("attach()", () => {
  it("serves a socket as belonging to its caller, whatever credentials it shows", async () => {
    const started = await start({ ...answering });
    const { raw } = await handedOver(started);
    raw.write(
      get(started.host.port).replace("\r\n\r\n", "\r\nProxy-Authorization: Basic eDp5\r\n\r\n"),
    );
    await raw.sees("\r\n\r\nok");
    expect(started.audit.events().every(({ agent }) => agent === "sandboxed")).toBe(true);
    expect(started.counted("connections", { kind: "attached" })).toBe(1);
    raw.write(get(started.host.port));
    await until(() => raw.text().split("\r\n\r\nok").length === 3, "for the second answer");
  });

  it("without a caller serves it as one that it accepted: by credentials or not at all", async () => {
    const token = "token-of-a-0123456789";
    const agents = [{ agent: { id: "a" }, username: "a", token }];
    const started = await start({ ...answering, proxy: { agents } });
    const { port } = started.host;
    const asked = async (credentials: string, agent: string): Promise<void> => {
      const { raw } = await handedOver(started, NOBODY);
      const basic = Buffer.from(credentials).toString("base64");
      raw.write(get(port).replace("\r\n\r\n", `\r\nProxy-Authorization: Basic ${basic}\r\n\r\n`));
      await raw.sees(agent === "" ? '"agent_unknown"' : "\r\n\r\nok");
      expect(started.audit.events().at(-1)?.agent).toBe(agent === "" ? undefined : agent);
    };
    await asked("a:wrong-0123456789012", "");
    await asked(`a:${token}`, "a");
    expect(started.counted("connections", { kind: "accepted" })).toBe(2);
    const inside = await handedOver(started, NOBODY);
    inside.raw.write("CONNECT mcp.acp.internal:1 HTTP/1.1\r\nHost: mcp.acp.internal:1\r\n\r\n");
    await inside.raw.sees("service_refused");
  });

  it("does not reach a port where somebody accepts connections for it", async () => {
    const started = await start({ proxy: { ownPorts: () => [started.host.port] } });
    const { raw } = await handedOver(started);
    raw.write(get(started.host.port));
    await raw.sees('"address_refused"');
    expect(raw.text()).toContain("this proxy itself");
    expect(started.host.connections).toEqual([]);
  });

  it("serves tunnels, and its slow heads end like any other", async () => {
    const started = await start({
      ...answering,
      proxy: { limits: { headMs: 100, sweepEveryMs: 10 } },
    });
    const { raw } = await handedOver(started);
    raw.write(`CONNECT 127.0.0.1:${started.host.port} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    await raw.sees("200 Connection Established");
    const slow = await handedOver(started);
    slow.raw.write("GET ");
    await slow.raw.ended();
  });
});

describe("close()", () => {
  it("lets what runs end, refuses what is new, then is done", async () => {
    const { proxy, port, host } = await start();
    const busy = await client(port);
    const idle = await client(port);
    busy.write(get(host.port));
    const connection = await host.connection(0);
    await until(() => hasHead(connection), "for the request");
    const closed = proxy.close({ drainMs: 600_000 });
    await idle.ended();
    busy.write(get(host.port));
    connection.socket.write(OK);
    await busy.sees("\r\n\r\nok");
    await busy.sees('"closing"');
    await closed;
    await expect(proxy.listen({ port: 0 })).rejects.toMatchObject({ code: "options_invalid" });
  });

  it("cuts what is not done in time", async () => {
    const { proxy, port, host } = await start();
    const raw = await client(port);
    raw.write(`CONNECT 127.0.0.1:${host.port} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    await raw.sees("200 Connection Established");
    await proxy.close({ drainMs: 20 });
    await raw.ended();
    await until(() => host.open() === 0, "for the host's side");
  });

  it("leaves open questions to a retry until the gate closes, and sockets that come later are closed", async () => {
    const started = await start({ policy: { version: "1", default: "ask" } });
    const raw = await client(started.port);
    raw.write(get(started.host.port));
    const question = await started.channel.question(0);
    await started.proxy.close();
    await until(
      () => started.audit.events().some(({ eventType }) => eventType === "consent_deferred"),
      "for the client's leave",
    );
    await started.gate.close();
    await until(() => question.ending() !== undefined, "for the end of the question");
    const { raw: late } = await handedOver(started);
    late.write(get(started.host.port));
    await late.ended();
    expect(started.host.connections).toHaveLength(0);
  });

  it("happens where the signal aborts", async () => {
    const controller = new AbortController();
    const { port } = await start({ proxy: { signal: controller.signal } });
    const raw = await client(port);
    controller.abort();
    await raw.ended();
  });
});

describe("the proxy", () => {
  it("says of what it is asked for as a server that it is a proxy", async () => {
    const { port } = await start();
    const raw = await client(port);
    raw.write("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    await raw.sees('"request_invalid"');
    expect(errorOf(raw.text())).toMatchObject({
      reason: expect.stringContaining("this is a proxy"),
    });
  });

  it("goes on where its hooks fail", async () => {
    const fail = (): never => {
      throw new Error("a hook");
    };
    const { port, host } = await start({ ...answering, proxy: { log: fail, count: fail } });
    for (let count = 0; count < 2; count++) {
      const raw = await client(port);
      raw.write(get(host.port));
      await raw.sees("\r\n\r\nok");
      raw.write("POST / HTTP/1.1\r\nHost: x\r\n\r\n");
      await raw.sees("this is a proxy");
    }
  });

  it("denies where the gate fails, and goes on", async () => {
    const { port, host } = await start({
      policy: { version: "1", default: "ask" },
      proxy: { gate: failingGate() },
    });
    for (let count = 0; count < 2; count++) {
      const raw = await client(port);
      raw.write(get(host.port));
      await raw.sees('"internal_error"');
      expect(raw.text()).toMatch(/^HTTP\/1\.1 403 /);
    }
    expect(host.connections).toHaveLength(0);
  });
});

function failingGate(): NonNullable<NonNullable<StartOptions["proxy"]>["gate"]> {
  return { run: () => Promise.reject(new Error("the gate failed")) };
}
