/** Servers that are added, removed, changed and restarted while their client goes on. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Message } from "./support/line-client.js";
import { names, received, server, text, two } from "./support/many.js";
import { ALLOW_ALL, proxied, scripted } from "./support/proxied.js";
import type { Proxied } from "./support/proxied.js";
import { received as receivedByOne } from "./support/received.js";

const denied = ({ result }: Message): Record<string, unknown> =>
  (result as { _meta: { "acp/denied": Record<string, unknown> } })._meta["acp/denied"];

async function tools(p: Proxied, id: string): Promise<readonly string[]> {
  return names(await p.client.request(id, "tools/list"));
}

/** A call that its server does not answer, once that has it. */
async function hanging(p: Proxied, id: string, tool: string): Promise<void> {
  p.client.send({ id, method: "tools/call", params: { name: tool, arguments: {} } });
  // Calls of one client reach one server in their order.
  await p.client.call(`${id}-after`, tool.replace("hang", "echo"), {});
}

const changes = (p: Proxied): number =>
  p.client.lines.filter((line) => line.includes("notifications/tools/list_changed")).length;

/** Moves time until something has come of it: a process takes as long as it takes. */
async function until(p: Proxied, isTrue: () => boolean, stepMs = 0): Promise<void> {
  for (let turn = 0; turn < 20_000 && !isTrue(); turn++) {
    if (stepMs > 0) await p.clock.advance(stepMs);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(isTrue()).toBe(true);
}

/** Lets the pause before a process pass, and waits for what comes of it. */
async function back(p: Proxied, line: string): Promise<void> {
  await p.clock.advance(500);
  await until(p, () => p.logs.some((each) => each.includes(line)));
}

describe("among several servers", () => {
  it("one that is added is greeted with what the client told, and the client looks again", async () => {
    const p = two();
    onTestFinished(() => p.proxy.close());
    await p.client.handshake();
    await p.client.request(1, "logging/setLevel", { level: "warning" });
    const upstreams = [server("one"), server("three"), server("two")];
    expect(await p.proxy.change({ upstreams, changed: [] })).toBe("changed");
    await until(p, () => p.logs.some((line) => line.includes('"three" has started')));
    expect(changes(p)).toBe(1);
    expect(await tools(p, "list")).toContain("three__echo");
    expect(text(await p.client.call(2, "three__echo", { text: "hi" }))).toContain("hi");
    expect((await received(p, "three")).slice(0, 3).map(({ method }) => method)).toEqual([
      "initialize",
      "notifications/initialized",
      "logging/setLevel",
    ]);
    // The others go on as they were.
    expect((await received(p, "one")).filter(({ method }) => method === "initialize")).toHaveLength(
      1,
    );
  });

  it("one that is removed answers what it has, then is gone; nothing new reaches it", async () => {
    const p = two();
    onTestFinished(() => p.proxy.close());
    await p.client.handshake();
    await hanging(p, "h", "one__hang");
    const changed = p.proxy.change({ upstreams: [server("two")], changed: [] });
    await until(p, () => changes(p) === 1);
    expect(denied(await p.client.call(1, "one__echo"))).toMatchObject({
      code: "server_unavailable",
      reason: 'Server "one" was removed from the configuration',
      retryable: false,
    });
    expect((await tools(p, "list")).every((name) => name.startsWith("two__"))).toBe(true);
    // It is let answer.
    expect(p.client.lines.some((line) => line.includes('"id":"h"'))).toBe(false);
    let isOver = false;
    void changed.then(() => (isOver = true));
    await until(p, () => isOver, 500);
    const answer = denied((await p.client.find(({ id }) => id === "h")).message);
    expect(answer).toMatchObject({ code: "server_unavailable", retryable: false });
    expect(answer["reason"]).toContain("whether the call took effect is not known");
    expect(p.client.lines.filter((line) => line.includes('"id":"h"'))).toHaveLength(1);
    expect((await p.client.call(2, "one__echo")).error?.message).toContain("no server has it");
    expect((await p.client.call(3, "two__echo")).result).not.toHaveProperty("isError");
  });

  it("one that is removed lets a call finish", async () => {
    const p = two();
    onTestFinished(() => p.proxy.close());
    await p.client.handshake();
    await hanging(p, "h", "one__hang");
    // On its way before the change.
    p.client.send({
      id: "n",
      method: "tools/call",
      params: { name: "one__nudge-large", arguments: {} },
    });
    const changed = p.proxy.change({ upstreams: [server("two")], changed: [] });
    expect((await p.client.find(({ id }) => id === "h")).message.result).not.toHaveProperty(
      "isError",
    );
    let isOver = false;
    void changed.then(() => (isOver = true));
    await until(p, () => isOver, 50);
  });

  it("one that is changed is another process, and what it owns stays its own", async () => {
    const p = two();
    onTestFinished(() => p.proxy.close());
    await p.client.handshake();
    await p.client.request(1, "resources/list");
    const { error } = await p.client.request(2, "resources/subscribe", { uri: "one://doc" });
    expect(error).toBeUndefined();
    const other = server("one", {
      tools: [
        { name: "other", inputSchema: {} },
        { name: "received", inputSchema: {} },
      ],
    });
    await p.proxy.change({ upstreams: [other, server("two")], changed: ["one"] });
    await until(p, () => p.logs.some((line) => line.includes('"one" has started')));
    expect(await tools(p, "list")).toContain("one__other");
    const read = await p.client.request("read", "resources/read", { uri: "one://doc" });
    expect(read).toHaveProperty("result.contents");
    expect(await tools(p, "again")).not.toContain("one__hang");
    const told = (await received(p, "one")).map(({ method }) => method);
    expect(told).toContain("resources/subscribe");
    expect(
      (await p.client.request(3, "resources/unsubscribe", { uri: "one://doc" })).error,
    ).toBeUndefined();
  });

  it("one that cannot start is tried again until it can", async () => {
    const p = two();
    onTestFinished(() => p.proxy.close());
    await p.client.handshake();
    const broken = { name: "three", command: ["/nonexistent/x"] };
    await p.proxy.change({ upstreams: [server("one"), server("two"), broken], changed: [] });
    const tries = (): number =>
      p.logs.filter((line) => line.includes("is started again in")).length;
    await until(p, () => tries() >= 1);
    expect(denied(await p.client.call(1, "three__echo"))).toMatchObject({ retryable: true });
    await until(p, () => tries() >= 3, 250);
    // What it is changed to takes its place, however long its pause was.
    await p.proxy.change({
      upstreams: [server("one"), server("two"), server("three")],
      changed: ["three"],
    });
    await until(p, () => p.logs.some((line) => line.includes('"three" has started')));
    expect(text(await p.client.call(2, "three__echo", {}))).toContain("echo");
  });

  it("each call of one that is restarted ends once, and it is back", async () => {
    const p = two();
    onTestFinished(() => p.proxy.close());
    await p.client.handshake();
    await hanging(p, "h", "one__hang");
    let isOver = false;
    void p.proxy.restart(["one"]).then(() => (isOver = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(denied(await p.client.call("m", "one__echo"))).toMatchObject({
      reason: 'Server "one" is being restarted',
      retryable: true,
    });
    await until(p, () => isOver, 500);
    await back(p, '"one" is back');
    const all = p.client.lines.filter((line) => line.includes('"id":"h"'));
    expect(all).toHaveLength(1);
    expect(all[0]).toContain("whether the call took effect is not known");
    expect(changes(p)).toBe(1);
    expect(text(await p.client.call(1, "one__echo", {}))).toContain("echo");
    expect((await received(p, "two")).filter(({ method }) => method === "initialize")).toHaveLength(
      1,
    );
  });
});

async function one(options: object = {}): Promise<Proxied> {
  const p = proxied({ policy: ALLOW_ALL, upstreams: [{ name: "fs", command: scripted(options) }] });
  onTestFinished(() => p.proxy.close());
  await p.client.handshake();
  return p;
}

describe("the only server", () => {
  it("is restarted, and its client goes on", async () => {
    const p = await one();
    await hanging(p, "h", "hang");
    let isOver = false;
    void p.proxy.restart(["fs"]).then(() => (isOver = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(denied(await p.client.call("m", "echo"))).toMatchObject({ retryable: true });
    await until(p, () => isOver, 500);
    await back(p, '"fs" is back');
    expect(p.client.lines.filter((line) => line.includes('"id":"h"'))).toHaveLength(1);
    expect((await p.client.call(1, "echo")).result).not.toHaveProperty("isError");
  });

  it("is not restarted while it starts: its client waits for it", async () => {
    const path = await mkdtemp(join(tmpdir(), "acp-change-"));
    onTestFinished(() => rm(path, { recursive: true, force: true }));
    const heldUntil = join(path, "go");
    const upstreams = [{ name: "fs", command: scripted({ heldUntil }) }];
    const p = proxied({ policy: ALLOW_ALL, upstreams });
    onTestFinished(() => p.proxy.close());
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} };
    const greeted = p.client.request("init", "initialize", params);
    await new Promise((resolve) => setImmediate(resolve));
    let isOver = false;
    void p.proxy.restart(["fs"]).then(() => (isOver = true));
    await until(p, () => isOver, 500);
    await writeFile(heldUntil, "");
    expect((await greeted).result).toHaveProperty("capabilities");
  });

  it("is another one under its name, with what its client told", async () => {
    const p = await one();
    await p.client.request(1, "logging/setLevel", { level: "error" });
    await p.client.request(2, "resources/subscribe", { uri: "scripted://a" });
    await hanging(p, "h", "hang");
    const command = scripted({
      tools: [
        { name: "other", inputSchema: { type: "object" } },
        { name: "received", inputSchema: {} },
      ],
    });
    let isOver = false;
    void p.proxy
      .change({ upstreams: [{ name: "fs", command }], changed: ["fs"] })
      .then(() => (isOver = true));
    await until(p, () => isOver, 500);
    const lost = p.client.lines.filter((line) => line.includes('"id":"h"'));
    expect(lost).toHaveLength(1);
    expect(lost[0]).toContain("whether the call took effect is not known");
    await back(p, '"fs" is back');
    expect(await tools(p, "list")).toEqual(["other", "received"]);
    const told = (await receivedByOne(p)).map((line) => (JSON.parse(line) as Message).method);
    expect(told.slice(0, 4)).toEqual([
      "initialize",
      "notifications/initialized",
      "logging/setLevel",
      "resources/subscribe",
    ]);
    expect(
      (await p.client.request(9, "resources/unsubscribe", { uri: "scripted://a" })).error,
    ).toBeUndefined();
  });

  it("gets company: names have their server's from then on", async () => {
    const p = await one();
    await p.client.request(2, "resources/subscribe", { uri: "scripted://a" });
    await p.proxy.change({
      upstreams: [{ name: "fs", command: scripted() }, server("two")],
      changed: [],
    });
    await until(p, () => changes(p) > 0);
    await until(p, () =>
      ["fs", "two"].every((name) => p.logs.some((line) => line.includes(`"${name}" has started`))),
    );
    const all = await tools(p, "list");
    expect(all).toContain("fs__echo");
    expect(all).toContain("two__echo");
    expect((await p.client.call(3, "echo")).error?.message).toContain(
      "tools are called server__tool",
    );
    expect((await received(p, "fs")).map(({ method }) => method)).toContain("resources/subscribe");
    expect((await received(p, "two")).map(({ method }) => method)).not.toContain(
      "resources/subscribe",
    );
    expect(
      (await p.client.request(4, "resources/unsubscribe", { uri: "scripted://a" })).error,
    ).toBeUndefined();
  });

  it("keeps its connection where what takes its place cannot start", async () => {
    const p = await one();
    let ended = false;
    void p.proxy.done.then(() => (ended = true));
    await p.proxy.change({
      upstreams: [{ name: "fs", command: ["/nonexistent/x"] }],
      changed: ["fs"],
    });
    await back(p, "is started again in");
    expect(denied(await p.client.call(1, "echo"))).toMatchObject({ retryable: true });
    const older = { name: "fs", command: scripted({ version: "2024-11-05" }) };
    await p.proxy.change({ upstreams: [older], changed: ["fs"] });
    await back(p, "came back with protocol version");
    expect(denied(await p.client.call(2, "echo"))).toMatchObject({ retryable: false });
    expect(ended).toBe(false);
  });

  it("is changed later for a client that greets nobody", async () => {
    const p = proxied({ policy: ALLOW_ALL });
    onTestFinished(() => p.proxy.close());
    await p.client.request(1, "tools/list");
    const next = { upstreams: [server("one"), server("two")], changed: [] };
    expect(await p.proxy.change(next)).toBe("later");
    expect((await p.client.call(2, "echo")).result).not.toHaveProperty("isError");
  });

  it("is refused a change to what is none, and nothing is changed", async () => {
    const p = await one();
    await expect(p.proxy.change({ upstreams: [], changed: [] })).rejects.toMatchObject({
      code: "options_invalid",
    });
    expect((await p.client.call(2, "echo")).result).not.toHaveProperty("isError");
  });
});
