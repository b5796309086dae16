/**
 * Services in this process that an agent's own connection reaches by CONNECT, over real sockets.
 */
import { randomBytes } from "node:crypto";
import type { Duplex } from "node:stream";
import { makeResponse } from "@acp/core";
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import type { Caller, HttpConsentProxyOptions, InternalService } from "../src/index.js";
import { attached, SANDBOXED } from "./support/attached.js";
import { until } from "./support/raw.js";
import { client, errorOf, start, type Started } from "./support/started.js";

const ESTABLISHED = "HTTP/1.1 200 Connection Established\r\n\r\n";
const CONNECT = "CONNECT mcp.acp.internal:1 HTTP/1.1\r\nHost: mcp.acp.internal:1\r\n\r\n";
const HOUR_MS = 3_600_000;
const NAME = "mcp.acp.internal:1";

interface Served extends Started {
  readonly visits: readonly { readonly socket: Duplex; readonly caller: Caller }[];
}

async function served(
  service: InternalService = () => {},
  more: Partial<HttpConsentProxyOptions> = {},
): Promise<Served> {
  const visits: { socket: Duplex; caller: Caller }[] = [];
  const internal: HttpConsentProxyOptions["internal"] = {
    [NAME]: (socket, caller) => {
      visits.push({ socket, caller });
      service(socket, caller);
    },
  };
  const started = await start({
    proxy: { internal, resolve: () => Promise.reject(new Error("nobody looks this up")), ...more },
  });
  return { ...started, visits };
}

/** Echoes until the client ends its side, then says bye. */
const echo: InternalService = (socket) => {
  socket.pipe(socket, { end: false });
  socket.on("end", () => socket.end("bye"));
};

describe("a CONNECT to a service of the proxy", () => {
  it("reaches it from a socket that was handed over, with what came ahead, and nobody is asked", async () => {
    const { visits, audit, logs, counted, ...proxy } = await served(echo);
    const { raw } = await attached(proxy);
    raw.write(`${CONNECT}ahead,`);
    raw.write("after");
    await raw.sees("ahead,after");
    raw.end();
    expect(await raw.ended()).toBe(`${ESTABLISHED}ahead,afterbye`);
    expect(visits.map(({ caller }) => caller)).toEqual([SANDBOXED]);
    expect(audit.events()).toEqual([]);
    expect(logs).toMatchObject([
      { event: "internal", agent: "sandboxed", host: "mcp.acp.internal" },
    ]);
    await until(() => counted("internal", { outcome: "performed" }) === 1, "for the count");
    expect(counted("tunnels")).toBe(0);
  });

  it("loses nothing where the service listens later", async () => {
    const { visits, ...proxy } = await served();
    const { raw } = await attached(proxy);
    const bytes = randomBytes(400_000);
    raw.write(Buffer.concat([Buffer.from(CONNECT), bytes]));
    raw.end();
    await raw.sees(ESTABLISHED);
    const chunks: Buffer[] = [];
    for await (const chunk of visits[0]?.socket ?? []) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
  });

  it("is not a host of the network: nothing is looked up, dialled or asked about", async () => {
    const { visits, audit, host, ...proxy } = await served();
    for (const name of [
      "x.acp.internal:1",
      "mcp.acp.internal:2",
      "acp.internal:1",
      "a.mcp.acp.internal:1",
    ]) {
      const { raw } = await attached(proxy);
      raw.write(`CONNECT ${name} HTTP/1.1\r\nHost: ${name}\r\n\r\n`);
      expect(errorOf(await raw.ended())).toMatchObject({ code: "service_refused" });
    }
    expect([visits.length, audit.events().length, host.connections.length]).toEqual([0, 0, 0]);
  });

  it("takes its other spellings for what they are", async () => {
    const { visits, ...proxy } = await served();
    const { raw } = await attached(proxy);
    raw.write("CONNECT MCP.acp.Internal.:1 HTTP/1.1\r\nHost: mcp.acp.internal\r\n\r\n");
    await raw.sees(ESTABLISHED);
    expect(visits).toHaveLength(1);
  });

  it("from a connection that was accepted is refused, and so where the agent shows credentials", async () => {
    const agents = [{ agent: { id: "b" }, username: "b", token: "0123456789abcdef" }];
    const { visits, port, counted } = await served(echo, { agents });
    for (const head of [
      CONNECT,
      CONNECT.replace(
        "\r\n\r\n",
        `\r\nProxy-Authorization: Basic ${btoa("b:0123456789abcdef")}\r\n\r\n`,
      ),
    ]) {
      const raw = await client(port);
      raw.write(head);
      const text = await raw.ended();
      expect(text).toContain("HTTP/1.1 403 ");
      expect(errorOf(text)).toMatchObject({
        code: "service_refused",
        reason: expect.stringContaining("inside a sandbox"),
      });
    }
    expect(visits).toEqual([]);
    expect(counted("internal", { outcome: "refused" })).toBe(2);
  });

  it("by another method is refused, and the connection serves on", async () => {
    const { visits, audit, ...proxy } = await served();
    const { raw } = await attached(proxy);
    for (const [index, method] of ["GET", "POST", "OPTIONS"].entries()) {
      raw.write(
        `${method} http://mcp.acp.internal:1/ HTTP/1.1\r\nHost: mcp.acp.internal:1\r\n\r\n`,
      );
      await until(
        () => raw.text().split("only with CONNECT").length === index + 2,
        "for the refusal",
      );
    }
    raw.write(CONNECT);
    await raw.sees(ESTABLISHED);
    expect([visits.length, audit.events().length]).toEqual([1, 0]);
  });

  it("is refused where the proxy has no services", async () => {
    const started = await start({
      proxy: { privateHosts: ["mcp.acp.internal"], resolve: () => Promise.resolve(["127.0.0.1"]) },
    });
    const { raw } = await attached(started);
    raw.write(CONNECT);
    expect(errorOf(await raw.ended())).toMatchObject({ code: "service_refused" });
    expect(started.audit.events()).toEqual([]);
  });

  it("waits as long as it likes, also once the client ended its side, where a tunnel ends", async () => {
    const clock = manualClock();
    const { visits, host, ...proxy } = await served((socket) => socket.resume(), {
      clock,
      resolve: () => Promise.resolve(["127.0.0.1"]),
    });
    const { raw } = await attached(proxy);
    raw.write(CONNECT);
    await raw.sees(ESTABLISHED);
    raw.end();
    await until(() => visits[0]?.socket.readableEnded === true, "for the client's end");
    const tunnel = await attached(proxy);
    tunnel.raw.write(`CONNECT 127.0.0.1:${host.port} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    await tunnel.raw.sees(ESTABLISHED);
    await clock.advance(24 * HOUR_MS);
    await tunnel.raw.ended();
    visits[0]?.socket.end("late");
    expect(await raw.ended()).toBe(`${ESTABLISHED}late`);
  });

  it("counts as a connection of the proxy, and gives its place back", async () => {
    const { visits, ...proxy } = await served(echo, { limits: { connectionsMax: 1 } });
    const first = await attached(proxy);
    first.raw.write(CONNECT);
    await first.raw.sees(ESTABLISHED);
    const second = await attached(proxy);
    expect(errorOf(await second.raw.ended())).toMatchObject({ code: "overloaded" });
    first.raw.end();
    await first.raw.ended();
    await until(() => visits[0]?.socket.destroyed === true, "for the place");
    const third = await attached(proxy);
    third.raw.write(CONNECT);
    await third.raw.sees(ESTABLISHED);
  });

  it("ends with the client's reset, and nothing else does", async () => {
    const { visits, counted, ...proxy } = await served(echo);
    const { raw } = await attached(proxy);
    raw.write(CONNECT);
    await raw.sees(ESTABLISHED);
    raw.socket.resetAndDestroy();
    await until(
      () => visits[0]?.socket.destroyed === true && counted("internal") === 1,
      "for the end",
    );
    const next = await attached(proxy);
    next.raw.write(`${CONNECT}x`);
    await next.raw.sees("x");
  });

  it("ends where the service fails", async () => {
    const { logs, ...proxy } = await served(() => {
      throw new Error("the service is broken");
    });
    const { raw } = await attached(proxy);
    raw.write(CONNECT);
    await raw.ended();
    await until(() => logs.some(({ event }) => event === "failed"), "for the log");
  });

  it("is drained, then cut with the proxy", async () => {
    const { proxy } = await served();
    const { raw } = await attached({ proxy });
    raw.write(CONNECT);
    await raw.sees(ESTABLISHED);
    await proxy.close({ drainMs: 20 });
    expect(await raw.ended()).toBe(ESTABLISHED);
  });

  it("is not reached by what a person makes of a request", async () => {
    const { port, channel, counted } = await start({
      policy: { version: "1", default: "ask" },
      proxy: { internal: { [NAME]: echo } },
    });
    const raw = await client(port);
    raw.write("GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n");
    const { session, request } = await channel.question(0);
    const modifications = {
      method: "GET",
      url: "http://mcp.acp.internal:1/",
      host: "mcp.acp.internal",
      port: 1,
    };
    await session.submit(
      makeResponse(request, {
        nowMs: Date.now(),
        channel: "held",
        decision: "approved_with_modifications",
        modifications,
      }),
    );
    await raw.sees('"service_refused"');
    expect(counted("internal")).toBe(0);
  });
});
