/** Servers that are slow to start, behind one connection with others. */
import { writeFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { names, received, server } from "./support/many.js";
import { ALLOW_ALL, proxied } from "./support/proxied.js";
import type { Proxied } from "./support/proxied.js";

async function held(
  more: object = {},
  quick: object = {},
): Promise<{ p: Proxied; release(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "acp-late-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  const gate = join(path, "go");
  const tools = { capabilities: { tools: {} }, announce: true, ...quick };
  const p = proxied({
    policy: ALLOW_ALL,
    upstreams: [server("slow", { heldUntil: gate, ...more }), server("quick", tools)],
    startTimeoutMs: 20_000,
  });
  onTestFinished(() => p.proxy.close());
  return { p, release: () => writeFile(gate, "") };
}

/** The quick one has answered, and the slow one's time is over. */
async function answeredWithout(p: Proxied): Promise<Record<string, unknown>> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} };
  p.client.send({ id: "init", method: "initialize", params });
  await p.client.find(({ method }) => method === "notifications/message");
  await p.clock.advance(2_999);
  expect(p.client.lines.some((line) => line.includes('"id":"init"'))).toBe(false);
  await p.clock.advance(1);
  const { message } = await p.client.find(({ id }) => id === "init");
  return message.result ?? {};
}

describe("a server that starts slowly", () => {
  it("is left out of the answer, which says so, and joins when it is up", async () => {
    const { p, release } = await held();
    const answer = await answeredWithout(p);
    expect(answer.instructions).toBe(
      'Server "slow" is still starting; its tools are listed once it is up.',
    );
    // What it can do is not known yet, and must be usable then.
    expect(answer.capabilities).toMatchObject({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      logging: {},
    });
    p.client.send({ method: "notifications/initialized" });
    const { result } = await p.client.call(1, "slow__echo", {});
    expect(result).toMatchObject({
      isError: true,
      _meta: { "acp/denied": { code: "server_unavailable", retryable: true } },
    });
    expect((await p.client.request(2, "prompts/list")).result).toEqual({ prompts: [] });
    expect((await p.client.request(3, "prompts/get", { name: "slow__greet" })).error).toMatchObject(
      { message: expect.stringContaining('Server "slow" is still starting') as string },
    );
    expect((await p.client.request(4, "logging/setLevel", { level: "error" })).result).toEqual({});
    const listed = names(await p.client.request(5, "tools/list"));
    expect(listed.every((name) => name.startsWith("quick__"))).toBe(true);
    await release();
    await p.client.find(({ method }) => method === "notifications/prompts/list_changed");
    expect(names(await p.client.request(6, "tools/list"))).toContain("slow__echo");
    expect((await p.client.call(7, "slow__echo", {})).result).not.toHaveProperty("isError");
    const methods = (await received(p, "slow")).map(({ method }) => method);
    // In the order of MCP: nothing before the handshake is over.
    expect(methods.slice(0, 3)).toEqual([
      "initialize",
      "notifications/initialized",
      "logging/setLevel",
    ]);
    expect(methods.filter((each) => each === "notifications/initialized")).toHaveLength(1);
    await p.proxy.close();
  });

  it("starts anew for the version that the client was told", async () => {
    const { p, release } = await held({}, { version: "2024-11-05" });
    expect((await answeredWithout(p)).protocolVersion).toBe("2024-11-05");
    p.client.send({ method: "notifications/initialized" });
    await p.client.request(1, "logging/setLevel", { level: "error" });
    await release();
    await p.client.find(({ method }) => method === "notifications/prompts/list_changed");
    const [first, ...others] = await received(p, "slow");
    expect(first).toMatchObject({ params: { protocolVersion: "2024-11-05" } });
    expect(others.slice(0, 2).map(({ method }) => method)).toEqual([
      "notifications/initialized",
      "logging/setLevel",
    ]);
    await p.proxy.close();
  });

  it("that does not speak the client's version stays away, and says why", async () => {
    const { p, release } = await held({ version: "2024-11-05" });
    await answeredWithout(p);
    p.client.send({ method: "notifications/initialized" });
    await release();
    while (!p.logs.some((line) => line.includes("speaks protocol version")))
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect((await p.client.call(1, "slow__echo", {})).result).toMatchObject({
      _meta: {
        "acp/denied": {
          reason: 'Server "slow" speaks protocol version "2024-11-05", and its client "2025-11-25"',
          retryable: false,
        },
      },
    });
    await p.proxy.close();
  });
});
