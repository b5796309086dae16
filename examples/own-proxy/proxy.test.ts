import { createServer, request } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { memoryAuditSink } from "@acp/audit";
import { createConsentGate, makeResponse } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import type { Channel, Decision } from "@acp/core";
import { createGatedProxy } from "./proxy.js";

const policy = parsePolicy({
  version: "1",
  default: "deny",
  rules: [
    { match: { kind: "http", host: "127.0.0.1", method: "GET" }, action: "allow" },
    { match: { kind: "http", host: "127.0.0.1", method: "POST" }, action: "ask" },
  ],
});

/** A person who always says the same. */
const always = (decision: Decision): Channel => ({
  name: "test",
  async deliver(question, session) {
    await session.submit(makeResponse(question, { decision, nowMs: Date.now(), channel: "test" }));
  },
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

interface Setup extends AsyncDisposable {
  readonly reached: readonly string[];
  readonly events: () => readonly string[];
  readonly send: (method: string, url?: string, body?: string) => Promise<{ readonly status: number | undefined; readonly body: string }>;
}

async function setUp(decision: Decision): Promise<Setup> {
  const reached: string[] = [];
  const upstream = createServer((incoming, outgoing) => {
    void text(incoming).then((body) => {
      reached.push(`${incoming.method} ${incoming.url} ${body}`.trim());
      outgoing.end("from upstream");
    });
  });
  const upstreamPort = await listen(upstream);
  const audit = memoryAuditSink();
  const gate = createConsentGate({ policy, channel: always(decision), audit });
  const proxy = createGatedProxy(gate);
  const port = await listen(proxy);
  return {
    reached,
    events: () => audit.events().map(({ eventType }) => eventType),
    send: (method, url = `http://127.0.0.1:${upstreamPort}/items`, body = "") =>
      new Promise((resolve, reject) => {
        const sent = request({ host: "127.0.0.1", port, method, path: url, agent: false }, (answer) => {
          text(answer).then((received) => resolve({ status: answer.statusCode, body: received }), reject);
        });
        sent.on("error", reject).end(body);
      }),
    async [Symbol.asyncDispose]() {
      await gate.close();
      for (const server of [proxy, upstream]) await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("createGatedProxy()", () => {
  it("forwards what the policy allows, and logs it", async () => {
    await using setup = await setUp("denied");
    expect(await setup.send("GET")).toEqual({ status: 200, body: "from upstream" });
    expect(setup.reached).toEqual(["GET /items"]);
    expect(setup.events()).toContain("tool_call_completed");
  });

  it("forwards with its body what a person approves", async () => {
    await using setup = await setUp("approved");
    expect((await setup.send("POST", undefined, "x=1")).status).toBe(200);
    expect(setup.reached).toEqual(["POST /items x=1"]);
  });

  it("answers 403 with the code when a person denies, and reaches nobody", async () => {
    await using setup = await setUp("denied");
    const { status, body } = await setup.send("POST");
    expect([status, JSON.parse(body).code]).toEqual([403, "consent_denied"]);
    expect(setup.reached).toEqual([]);
  });

  it("answers 403 with the code when the policy denies, and reaches nobody", async () => {
    await using setup = await setUp("approved");
    const { status, body } = await setup.send("DELETE");
    expect([status, JSON.parse(body).code]).toEqual([403, "policy_denied"]);
    expect(setup.reached).toEqual([]);
  });

  it("forwards nothing that has no single reading", async () => {
    await using setup = await setUp("approved");
    expect((await setup.send("GET", "/items")).status).toBe(502);
    expect(setup.reached).toEqual([]);
  });
});
