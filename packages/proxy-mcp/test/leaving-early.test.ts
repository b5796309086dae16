/**
 * Clients that leave while a server has not answered `initialize`: the connection is over, and
 * nothing of it waits any more.
 */
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { memoryAuditSink } from "@acp/audit";
import { type Clock, createConsentGate } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { manualClock } from "@acp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { createMcpProxy, type ServerProcess } from "../src/index.js";
import { inProcess } from "./support/in-process.js";
import { pipes } from "./support/line-client.js";
import { ALLOW_ALL, heldChannel, proxied } from "./support/proxied.js";

/** A clock that stands still, and the sleeps that would keep a process. */
function watchedClock(): { readonly clock: Clock; readonly sleeps: ReadonlySet<symbol> } {
  const clock = manualClock();
  const sleeps = new Set<symbol>();
  const sleep: Clock["sleep"] = async (ms, options) => {
    if (options.background === true) return clock.sleep(ms, options);
    const slept = Symbol(String(ms));
    sleeps.add(slept);
    return clock.sleep(ms, options).finally(() => sleeps.delete(slept));
  };
  return { clock: { ...clock, sleep }, sleeps };
}

/** A server that reads, says nothing, and ends with its input. */
function silentServer(): {
  readonly heard: Promise<unknown>;
  readonly start: () => Promise<ServerProcess>;
} {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const heard = once(stdin, "data");
  const exited = once(stdin, "end").then(() => {
    for (const output of [stdout, stderr]) output.end();
    return { code: 0, signal: undefined };
  });
  return {
    heard,
    start: () => Promise.resolve({ stdin, stdout, stderr, exited, stop: () => {}, kill: () => {} }),
  };
}

describe("a client that leaves during initialize", () => {
  it.each([1, 2])(
    "leaves no time-out behind where there are servers that never answer: %s",
    async (count) => {
      const { clock, sleeps } = watchedClock();
      const servers = Array.from({ length: count }, () => silentServer());
      const gate = createConsentGate({
        policy: parsePolicy(ALLOW_ALL),
        channel: heldChannel(() => clock.now()),
        audit: memoryAuditSink(),
        clock,
      });
      const { input, output, client } = pipes();
      const upstreams = servers.map(({ start }, index) => ({ name: `silent${index}`, start }));
      const proxy = createMcpProxy({
        gate,
        agent: { id: "leaving" },
        upstreams,
        input,
        output,
        clock,
        log: () => {},
      });
      const params = {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "test", version: "1" },
      };
      client.send({ id: 1, method: "initialize", params });
      await Promise.all(servers.map(({ heard }) => heard));
      expect([...sleeps]).not.toEqual([]); // the watch over the start
      client.end();
      expect((await proxy.done).reason).toBe("client_closed");
      expect([...sleeps]).toEqual([]);
    },
  );
});

it("no server is started for a client that left during the change, or before it", async () => {
  // What it owes an answer to is let finish first.
  const [one, second, three] = ["one", "two", "three"].map((name) =>
    inProcess((heard) => heard.method === "tools/call" || undefined, name),
  );
  if (one === undefined || second === undefined || three === undefined) throw new Error();
  const p = proxied({ policy: ALLOW_ALL, upstreams: [one.upstream, second.upstream] });
  onTestFinished(() => p.proxy.close());
  await p.client.handshake();
  const next = { upstreams: [one.upstream, three.upstream], changed: [] };
  p.client.send({ id: 1, method: "tools/call", params: { name: "two__echo", arguments: {} } });
  await expect.poll(() => second.lines.some((line) => line.includes("tools/call"))).toBe(true);
  const changed = p.proxy.change(next);
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([p.proxy.close(), changed]);
  expect(three.counts).toEqual({ started: 0, ended: 0 });
  expect(await p.proxy.change(next)).toBe("later");
  expect([one, second, three].map(({ counts }) => counts.started - counts.ended)).toEqual([
    0, 0, 0,
  ]);
});
