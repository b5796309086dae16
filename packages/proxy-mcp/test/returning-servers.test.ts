/** Servers that die and come back: real processes, and time that the test moves. */
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Layer } from "@acp/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { received as receivedBy, server, text } from "./support/many.js";
import { ALLOW_ALL, proxied, scripted } from "./support/proxied.js";
import type { Proxied } from "./support/proxied.js";
import { received } from "./support/received.js";
import { echoServer, json, webServer } from "./support/web-server.js";

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "acp-return-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** One server whose starts are counted, with its handshake behind it. */
async function one(options: object = {}): Promise<Proxied & { starts(): number }> {
  const starts = join(await directory(), "starts");
  const p = proxied({
    policy: ALLOW_ALL,
    upstreams: [{ name: "fs", command: scripted({ ...options, starts }) }],
  });
  onTestFinished(() => p.proxy.close());
  await p.client.handshake();
  return { ...p, starts: () => startsIn(starts) };
}

function startsIn(path: string): number {
  return existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n").length : 0;
}

const die = (p: Proxied, id: number): void =>
  p.client.send({ id, method: "tools/call", params: { name: "die", arguments: {} } });

/** Lets the pause pass, then waits for the process: how long it takes is not the clock's to say. */
async function passed(p: Proxied, ms: number, line: string, times = 1): Promise<void> {
  let isOver = false;
  void p.proxy.done.then(() => (isOver = true));
  await p.clock.advance(ms);
  while (!isOver && p.logs.filter((each) => each.includes(line)).length < times)
    await new Promise((resolve) => setTimeout(resolve, 5));
}

const notice = (result: unknown): Record<string, unknown> =>
  (result as { _meta: { "acp/denied": Record<string, unknown> } })._meta["acp/denied"];

describe("the only server", () => {
  it("comes back, with its client's handshake, level and subscriptions, and the client looks again", async () => {
    const p = await one();
    await p.client.request(1, "logging/setLevel", { level: "warning" });
    await p.client.request(2, "resources/subscribe", { uri: "scripted://a" });
    await p.client.request(3, "resources/subscribe", { uri: "scripted://b" });
    await p.client.request(4, "resources/unsubscribe", { uri: "scripted://a" });
    const told = (await received(p)).slice(0, 2);
    die(p, 5);
    const lost = notice((await p.client.find(({ id }) => id === 5)).message.result);
    expect(lost.reason).toContain("whether the call took effect is not known");
    const meanwhile = notice((await p.client.call(6, "echo", { text: "lost" })).result);
    expect(meanwhile).toMatchObject({
      code: "server_unavailable",
      retryable: true,
      retryAfterMs: 1_000,
    });
    expect((await p.client.request(7, "tools/list")).error).toMatchObject({
      code: -32603,
      data: { code: "server_unavailable", retryable: true, retryAfterMs: 1_000 },
    });
    const before = p.client.lines.length;
    await passed(p, 500, "is back");
    for (const list of ["tools", "prompts", "resources"])
      await p.client.find(({ method }) => method === `notifications/${list}/list_changed`);
    const lines = await received(p);
    // The bytes of the handshake, then what it is told again; no call of before.
    expect(lines.slice(0, 2)).toEqual(told);
    expect(lines.slice(2, 4).map((line) => JSON.parse(line) as object)).toMatchObject([
      { method: "logging/setLevel", params: { level: "warning" } },
      { method: "resources/subscribe", params: { uri: "scripted://b" } },
    ]);
    expect(lines).toHaveLength(5);
    expect((await p.client.call(8, "echo", { text: "again" })).result).toHaveProperty("content");
    // Answers to what we asked ourselves are nobody's.
    const after = p.client.lines.slice(before).map((line) => JSON.parse(line) as { id?: unknown });
    expect(after.filter(({ id }) => id === "init" || String(id).startsWith("acp-"))).toEqual([]);
    await p.proxy.close();
  });

  it.each(["one", "several"])(
    "hears of no subscription that policy or pins do not allow any longer, or that never was: %s",
    async (how) => {
      const rulings = new Map<string, "allow" | "ask" | "deny">();
      const layer: Layer = {
        name: "test",
        judge({ args }) {
          const uri = (args as { uri?: string } | undefined)?.uri ?? "";
          const effect = rulings.get(uri.split("/").at(-1) ?? "");
          return effect === undefined
            ? undefined
            : { effect, ruleId: "test", reason: "it says so" };
        },
      };
      const tools = ["die", "received"].map((name) => ({ name, inputSchema: { type: "object" } }));
      const fs = server("fs", { tools, resource: { title: "The document" } });
      let isChanged = false;
      const p = proxied({
        policy: ALLOW_ALL,
        layers: [layer],
        upstreams: how === "one" ? [fs] : [fs, server("other")],
        pins: {
          look: async (_, texts) =>
            texts.map(({ kind }) => (isChanged && kind === "resource" ? "changed" : "same")),
        },
      });
      onTestFinished(() => p.proxy.close());
      await p.client.handshake();
      await p.client.request("list", "resources/list");
      const uri = (name: string): string => `fs://item/${name}`;
      const subscribe = (name: string) =>
        p.client.request(name, "resources/subscribe", { uri: uri(name) });
      rulings.set("agreed", "ask");
      const agreed = subscribe("agreed");
      await (await p.channel.question(0)).approve();
      await agreed;
      for (const name of ["kept", "denied", "asked"])
        expect((await subscribe(name)).error).toBeUndefined();
      expect((await subscribe("refused")).error).toBeDefined();
      const doc = { uri: "fs://doc" };
      expect((await p.client.request("doc", "resources/subscribe", doc)).error).toBeUndefined();
      isChanged = true;
      await p.client.request("again", "resources/list");
      p.client.send({ id: "held", method: "resources/subscribe", params: { uri: uri("held") } });
      p.client.send({ method: "notifications/cancelled", params: { requestId: "held" } });
      rulings.set("denied", "deny").set("asked", "ask");
      const prefix = how === "one" ? "" : "fs__";
      p.client.send({
        id: "die",
        method: "tools/call",
        params: { name: `${prefix}die`, arguments: {} },
      });
      await p.client.find(({ id }) => id === "die");
      await passed(p, 500, "is back");
      const lines =
        how === "one"
          ? await received(p)
          : await receivedBy(p, "fs").then((all) => all.map((each) => JSON.stringify(each)));
      const again = lines.filter((line) => line.includes('"resources/subscribe"'));
      expect(
        again.map((line) => (JSON.parse(line) as { params: { uri: string } }).params.uri),
      ).toEqual([uri("agreed"), uri("kept")]);
      expect(p.channel.questions).toHaveLength(1);
      expect(p.logs.filter((line) => line.includes("is not made again"))).toHaveLength(3);
    },
  );

  it("that dies at once each time is started after ever longer pauses, and never spins", async () => {
    const p = await one({ later: { exitAtStart: 9 } });
    die(p, 1);
    await p.client.find(({ id }) => id === 1);
    let seconds = 0;
    const waits: unknown[] = [];
    while (p.starts() < 6) {
      const known = p.logs.filter((line) => line.includes("exited with code 9")).length;
      const { retryAfterMs } = notice((await p.client.call(`w${seconds}`, "echo", {})).result);
      if (waits.at(-1) !== retryAfterMs) waits.push(retryAfterMs);
      await p.clock.advance(500);
      seconds += 0.5;
      // A start that is due is there before time goes on.
      const due = [0.5, 1.5, 3.5, 7.5, 15.5].filter((at) => at <= seconds).length;
      while (p.logs.filter((line) => line.includes("exited with code 9")).length < due)
        await new Promise((resolve) => setTimeout(resolve, 5));
      expect(known).toBeLessThanOrEqual(due);
    }
    expect(seconds).toBe(15.5);
    expect(Math.max(...waits.map(Number))).toBe(8_000);
    await p.proxy.close();
    const starts = p.starts();
    await p.clock.advance(600_000);
    expect(p.starts()).toBe(starts);
  });

  it("begins with the shortest pause again once it stood for a minute", async () => {
    const p = await one();
    die(p, 1);
    await p.client.find(({ id }) => id === 1);
    await passed(p, 500, "is back", 1);
    die(p, 2);
    await p.client.find(({ id }) => id === 2);
    await p.clock.advance(999);
    expect(p.starts()).toBe(2);
    await passed(p, 1, "is back", 2);
    await p.clock.advance(60_000);
    die(p, 3);
    await p.client.find(({ id }) => id === 3);
    // After another of 2 s it would be that.
    expect(notice((await p.client.call(4, "echo", {})).result).retryAfterMs).toBe(1_000);
    await passed(p, 500, "is back", 3);
    await p.proxy.close();
  });

  it("stays away when it speaks another version, and the connection ends", async () => {
    const p = await one({ later: { version: "2024-11-05" } });
    die(p, 1);
    await p.client.find(({ id }) => id === 1);
    const back = passed(p, 500, "is back").then(() => "it is back");
    expect(await Promise.race([p.proxy.done, back])).toMatchObject({
      reason: "upstream_failed",
      detail:
        'Server "fs" came back with protocol version "2024-11-05", and its client speaks "2025-11-25"',
    });
  });

  it("is not started again for a client that has closed", async () => {
    const p = await one();
    die(p, 1);
    await p.client.find(({ id }) => id === 1);
    p.client.end();
    expect(await p.proxy.done).toMatchObject({ reason: "client_closed" });
    await p.clock.advance(600_000);
    expect(p.starts()).toBe(1);
  });

  it("never gets an answer that its client owes to the process before it", async () => {
    const p = await one();
    const sample = { name: "sample", arguments: { method: "sampling/createMessage" } };
    p.client.send({ id: 1, method: "tools/call", params: sample });
    const first = await p.client.find(({ method }) => method === "sampling/createMessage");
    die(p, 2);
    await p.client.find(({ id }) => id === 2);
    await p.client.find(
      ({ method, params }) =>
        method === "notifications/cancelled" && params?.requestId === first.message.id,
    );
    await passed(p, 500, "is back");
    p.client.send({ id: 3, method: "tools/call", params: sample });
    const second = await p.client.find(
      ({ method }, line) => method === "sampling/createMessage" && line !== first.line,
    );
    p.client.send({ id: first.message.id, result: { of: "the first" } });
    p.client.send({ id: second.message.id, result: { of: "the second" } });
    const { message } = await p.client.find(({ id, result }) => id === 3 && result !== undefined);
    expect(text(message)).toContain("the second");
    await p.proxy.close();
  });

  it("presses its client no more, once the process that did not read is gone", async () => {
    const starts = join(await directory(), "starts");
    const p = proxied({
      policy: ALLOW_ALL,
      upstreams: [{ name: "fs", command: scripted({ starts }) }],
    });
    await p.client.handshake();
    p.client.send({ id: 1, method: "test/read-no-more" });
    const params = { padding: "x".repeat(100_000) };
    for (let each = 0; each < 100; each++)
      p.client.send({ method: "notifications/vendor", params });
    await new Promise((resolve) => setTimeout(resolve, 200));
    process.kill(Number(readFileSync(starts, "utf8").split("\n")[0]), "SIGKILL");
    await p.client.find(({ id }) => id === 1);
    await passed(p, 500, "is back");
    expect((await p.client.request(2, "ping")).result).toEqual({});
    await p.proxy.close();
  });

  it("also comes back for a client that sends no initialize", async () => {
    const starts = join(await directory(), "starts");
    const p = proxied({
      policy: ALLOW_ALL,
      upstreams: [{ name: "fs", command: scripted({ starts }) }],
    });
    await p.client.request(1, "tools/list");
    die(p, 2);
    await p.client.find(({ id }) => id === 2);
    await passed(p, 500, "is back");
    expect((await p.client.call(3, "echo", {})).result).toHaveProperty("content");
    await p.proxy.close();
  });
});

describe("a server at an address", () => {
  it("gets a new session where it has ended the last one, by the same handshake", async () => {
    let sessions = 1;
    let isOver = false;
    await using web = await webServer(
      echoServer(({ headers, message }, response) => {
        if (message.method === "initialize" && isOver) {
          isOver = false;
          sessions++;
        }
        if (!isOver) return false;
        if (headers["mcp-session-id"] === undefined) return false;
        json(response, 404, { jsonrpc: "2.0", id: null, error: { code: 1, message: "x" } });
        return true;
      }),
    );
    const p = proxied({ policy: ALLOW_ALL, upstreams: [{ name: "web", url: web.url }] });
    await p.client.handshake();
    await p.client.call(0, "echo", {});
    isOver = true;
    const { result } = await p.client.call(1, "echo", {});
    expect(notice(result)).toMatchObject({ code: "server_unavailable", retryable: false });
    await passed(p, 500, "is back");
    expect((await p.client.call(2, "echo", {})).result).not.toHaveProperty("isError");
    const handshakes = web.asked.filter(({ message }) => message.method === "initialize");
    expect(handshakes.map(({ body }) => body)).toEqual([handshakes[0]?.body, handshakes[0]?.body]);
    expect(sessions).toBe(2);
    await p.proxy.close();
  });
});

describe("one of several servers", () => {
  it("comes back with what it was told, while the others serve on", async () => {
    const starts = join(await directory(), "starts");
    const p = proxied({
      policy: ALLOW_ALL,
      upstreams: [server("one", { starts }), server("two")],
    });
    await p.client.handshake();
    await p.client.request(1, "logging/setLevel", { level: "error" });
    const told = (await receivedBy(p, "one")).slice(0, 2);
    await p.client.call(2, "one__die", {});
    expect(notice((await p.client.call(3, "one__echo", {})).result)).toMatchObject({
      retryable: true,
    });
    expect((await p.client.call(4, "two__echo", {})).result).not.toHaveProperty("isError");
    await passed(p, 500, 'Server "one" is back');
    await p.client.find(({ method }) => method === "notifications/tools/list_changed");
    expect((await p.client.call(5, "one__echo", {})).result).not.toHaveProperty("isError");
    const lines = await receivedBy(p, "one");
    expect(lines.slice(0, 2)).toEqual(told);
    expect(lines[2]).toMatchObject({ method: "logging/setLevel", params: { level: "error" } });
    expect(startsIn(starts)).toBe(2);
    // A request that it had is not one that it did not get.
    p.client.send({ id: "read", method: "prompts/get", params: { name: "one__hold" } });
    await p.client.request("ping", "ping");
    // All of them may be away at once.
    await Promise.all([p.client.call(6, "one__die", {}), p.client.call(7, "two__die", {})]);
    await passed(p, 1_000, 'Server "two" is back');
    expect((await p.client.find(({ id }) => id === "read")).message.error?.message).toMatch(
      /Server "one" exited with code 3.* whether the (?:call|request) took effect is not known/u,
    );
    expect((await p.client.call(8, "two__echo", {})).result).not.toHaveProperty("isError");
    await p.proxy.close();
  });
});
