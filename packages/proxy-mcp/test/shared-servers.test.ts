/**
 * One process of a server for several clients: whatever comes in whichever order, each client has
 * what is its own, and nothing of another one's. In any order: properties-shared.test.ts.
 */
import type { Masker } from "@acp/core";
import { createMasker, Secret } from "@acp/core/vault";
import { describe, expect, it } from "vitest";
import { argumentsOf, call, calls, double, line, turn, two } from "./support/shared-double.js";
import type { Message } from "./support/shared-double.js";

describe("a shared server", () => {
  it("is started once, and is told of us, not of its clients", async () => {
    const { a, b, ...d } = await two();
    expect(d.starts()).toBe(1);
    expect(d.got().map(({ method }) => method)).toEqual([
      "initialize",
      "notifications/initialized",
    ]);
    expect(d.got()[0]?.params).toEqual({
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "acp", version: "0" },
    });
    // What it can do only for one client is not offered.
    for (const { heard } of [a, b])
      expect(heard).toMatchObject([
        { id: "init", result: { capabilities: { tools: {}, resources: { subscribe: true } } } },
      ]);
    expect(a.heard[0]?.result?.["capabilities"]).not.toHaveProperty("logging");
    expect(a.heard[0]?.result?.["capabilities"]).not.toHaveProperty("tasks");
  });

  it("answers each client under its id, though both use the same", async () => {
    const { a, b, ...d } = await two();
    a.says(call(1, { arguments: { of: "a" }, _meta: { progressToken: "t", traceparent: "00-1" } }));
    b.says(call(1, { arguments: { of: "b" }, _meta: { progressToken: "t" } }));
    await turn();
    const [first, second] = calls(d);
    expect(first?.params?.["_meta"]).toEqual({ progressToken: first?.id });
    d.says({
      method: "notifications/progress",
      params: { progressToken: second?.id, progress: 1 },
    });
    d.says({ id: second?.id, result: { of: "b" } });
    d.says({ id: first?.id, result: { of: "a" } });
    await turn();
    expect(a.heard.slice(1)).toMatchObject([{ id: 1, result: { of: "a" } }]);
    expect(b.heard.slice(1)).toMatchObject([
      { method: "notifications/progress", params: { progressToken: "t" } },
      { id: 1, result: { of: "b" } },
    ]);
  });

  it("is masked with what each of its clients was released, its next process, too", async () => {
    const known =
      (name: string): (() => Masker) =>
      () =>
        createMasker([new Secret({ name, value: `value-of-${name}` })]);
    const d = double({}, true, known("A"));
    const [a, b] = [d.connect(), d.connect()];
    await Promise.all([a.ready(), b.ready()]);
    expect(d.masked('"value-of-A value-of-B"')).toBe('"[secret A] value-of-B"');
    b.process.learn?.({ masker: known("B") });
    expect(d.masked('"value-of-B"')).toBe('"[secret B]"');
    d.dies();
    await turn();
    await d.connect().ready();
    expect(d.starts()).toBe(2);
    expect(d.masked('"value-of-B"')).toBe('"[secret B]"');
  });

  it("takes back only what its own client takes back, and ends only what a client had that left", async () => {
    const { a, b, ...d } = await two();
    a.says(call(1));
    b.says(call(1));
    await turn();
    const [ofA, ofB] = calls(d);
    a.says({ method: "notifications/cancelled", params: { requestId: 1 } });
    await turn();
    const taken = (): readonly unknown[] =>
      d
        .got()
        .flatMap(({ method, params }) =>
          method === "notifications/cancelled" ? [params?.["requestId"]] : [],
        );
    expect(taken()).toEqual([ofA?.id]);
    d.says({ id: ofA?.id, result: { late: true } });
    await turn();
    expect(a.heard).toHaveLength(1);
    a.process.kill();
    b.says(call(2));
    await turn();
    d.says({ id: ofB?.id, result: {} });
    d.says({ id: ofA?.id, result: { late: true } });
    await turn();
    expect(b.heard.slice(1)).toMatchObject([{ id: 1, result: {} }]);
    expect(a.heard).toHaveLength(1);
    b.process.kill();
    await turn();
    expect(taken()).toHaveLength(2);
  });

  it("tells news of a resource only to who subscribed, and is told once", async () => {
    const { a, b, ...d } = await two();
    const news = (uri: string): void =>
      d.says({ method: "notifications/resources/updated", params: { uri } });
    const asked = (): readonly Message[] =>
      d.got().filter(({ method }) => method?.includes("subscribe"));
    a.says({ id: 1, method: "resources/subscribe", params: { uri: "x://a" } });
    b.says({ id: 1, method: "resources/subscribe", params: { uri: "x://a" } });
    b.says({ id: 2, method: "resources/subscribe", params: { uri: "x://b" } });
    await turn();
    expect(asked().map(({ params }) => params?.["uri"])).toEqual(["x://a", "x://b"]);
    for (const { id } of asked()) d.says({ id, result: {} });
    await turn();
    news("x://b");
    news("x://a/part");
    await turn();
    expect(a.heard.slice(1)).toMatchObject([
      { id: 1, result: {} },
      { params: { uri: "x://a/part" } },
    ]);
    expect(b.heard.slice(1).map(({ id, params }) => id ?? params?.["uri"])).toEqual([
      1,
      2,
      "x://b",
      "x://a/part",
    ]);
    // One of two that leaves takes nothing from the other.
    a.process.kill();
    await turn();
    expect(asked()).toHaveLength(2);
    b.says({ id: 3, method: "resources/unsubscribe", params: { uri: "x://a" } });
    await turn();
    expect(asked().at(-1)).toMatchObject({
      method: "resources/unsubscribe",
      params: { uri: "x://a" },
    });
    // Wanted again before the server has said that it ended.
    b.says({ id: 4, method: "resources/subscribe", params: { uri: "x://a" } });
    await turn();
    d.says({ id: asked().at(-1)?.id, result: {} });
    await turn();
    expect(asked().at(-1)).toMatchObject({
      method: "resources/subscribe",
      params: { uri: "x://a" },
    });
    d.says({ id: asked().at(-1)?.id, error: { code: -1, message: "no" } });
    await turn();
    expect(b.heard.at(-1)?.error?.message).toContain("refuses to be subscribed to");
    news("x://a");
    await turn();
    expect(b.heard.at(-1)).toHaveProperty("error");
  });

  it("may ask no client anything, and logs to nobody", async () => {
    const { a, b, ...d } = await two();
    a.says(call(1));
    await turn();
    for (const method of ["sampling/createMessage", "elicitation/create", "roots/list"])
      d.says({ id: 7, method, params: {} });
    d.says({ id: "p", method: "ping" });
    d.says({ method: "notifications/message", params: { level: "info", data: "of a's call" } });
    d.says({ method: "notifications/vendor", params: {} });
    await turn();
    expect([a.heard.length, b.heard.length]).toEqual([1, 1]);
    expect(
      d
        .got()
        .slice(-4)
        .map(({ error }) => error?.code),
    ).toEqual([-32601, -32601, -32601, undefined]);
    expect(d.logs.some((each) => each.includes("of a's call"))).toBe(true);
    a.says({ id: 2, method: "logging/setLevel", params: { level: "debug" } });
    a.says({ id: 3, method: "tasks/list", params: {} });
    a.says(call(4, { task: { ttl: 1 } }));
    a.says({ id: 5, method: "server/discover", params: {} });
    await turn();
    expect(a.heard.slice(1).map(({ id, error }) => [id, error?.code])).toEqual([
      [2, -32601],
      [3, -32601],
      [4, -32602],
      [5, -32601],
    ]);
    d.says({ method: "notifications/tools/list_changed" });
    await turn();
    expect([a.heard.at(-1)?.method, b.heard.at(-1)?.method]).toEqual(
      Array(2).fill("notifications/tools/list_changed"),
    );
  });

  it("is subscribed to within a client's share, and no client is remembered without end", async () => {
    const { a, b, ...d } = await two({ callsMax: 4 });
    const asked = (method: string): readonly Message[] =>
      d.got().filter((each) => each.method === `resources/${method}`);
    const of = (n: number): object => ({ params: { uri: `x://${n}` } });
    for (let n = 0; n < 1_500; n++) {
      a.says({ id: `s${n}`, method: "resources/subscribe", ...of(n) });
      a.says({ id: `u${n}`, method: "resources/unsubscribe", ...of(n) });
      for (const requestId of [`s${n}`, `u${n}`])
        a.says({ method: "notifications/cancelled", params: { requestId } });
    }
    a.says({ id: "late", method: "resources/subscribe", ...of(9_999) });
    await turn();
    expect(asked("subscribe")).toHaveLength(2);
    expect(a.heard.at(-1)).toMatchObject({
      id: "late",
      error: { message: expect.stringContaining("are not answered yet") },
    });
    // What waits for its turn with one that leaves, another one still gets.
    b.says({ id: 1, method: "resources/subscribe", ...of(7) });
    await turn();
    expect(b.heard).toHaveLength(1);
    a.process.kill();
    await turn();
    const [last] = asked("subscribe").slice(-1);
    expect(last?.params).toEqual({ uri: "x://7" });
    d.says({ id: last?.id, result: {} });
    await turn();
    expect(b.heard.at(-1)).toMatchObject({ id: 1, result: {} });
  });

  it("gets nothing that was still waiting when its client leaves", async () => {
    const { a, b, ...d } = await two({ callsMax: 4 });
    for (let id = 0; id < 20; id++) a.says(call(id));
    b.says(call("b"));
    await turn();
    a.process.kill();
    await turn();
    expect(calls(d).map((each) => argumentsOf(each)["id"])).toEqual([0, 1, "b"]);
    for (let id = 0; id < 4; id++) b.says(call(`b${id}`));
    await turn();
    expect(calls(d)).toHaveLength(6);
  });

  it("has only so many requests, and a flood of one client leaves the other its part", async () => {
    const { a, b, ...d } = await two({ callsMax: 4 });
    for (let id = 0; id < 100; id++) a.says(call(id));
    await turn();
    // Half of the places at most, where there are others.
    expect(calls(d)).toHaveLength(2);
    b.says(call("b"));
    await turn();
    expect(calls(d)).toHaveLength(3);
    b.says(call("c"));
    b.says(call("d"));
    await turn();
    const ofB = calls(d).filter((each) => typeof argumentsOf(each)["id"] === "string");
    expect(ofB).toHaveLength(2);
    d.says({ id: ofB[0]?.id, result: {} });
    await turn();
    expect(argumentsOf(calls(d).at(-1))["id"]).toBe("d");
  });

  it("says of what it was not sent that nothing was done, and nothing of what it had", async () => {
    const { a, b, ...d } = await two({ callsMax: 1 });
    a.says(call(1));
    a.says(call(2));
    b.says(call(1));
    await turn();
    d.dies();
    await turn();
    // Of the others their proxies say that the effect is not known.
    expect(a.heard.slice(1)).toMatchObject([
      { id: 2, error: { message: 'Server "db" exited with code 3' } },
    ]);
    expect(b.heard.slice(1)).toMatchObject([{ id: 1, error: { code: -32603 } }]);
    expect([a.reason(), b.reason()]).toEqual(Array(2).fill('Server "db" exited with code 3'));
  });

  it("ends a while after its last client, and begins anew for the next", async () => {
    const { a, b, ...d } = await two();
    a.end();
    b.end();
    await turn();
    await d.clock.advance(29_000);
    const c = d.connect();
    await c.ready();
    expect(d.starts()).toBe(1);
    c.end();
    await d.clock.advance(60_000);
    expect(d.shared.isRunning()).toBe(false);
    await d.connect().ready();
    expect(d.starts()).toBe(2);
  });

  it("is replaced once the clients of before have left", async () => {
    const { a, b, ...d } = await two();
    d.shared.renew();
    const c = d.connect();
    const ready = c.ready();
    await turn();
    expect(d.starts()).toBe(1);
    a.process.kill();
    const release = d.lingers();
    b.process.kill();
    // Never two at once.
    for (let waited = 0; waited < 20; waited++) await turn();
    expect(d.starts()).toBe(1);
    release();
    await ready;
    await c.ready();
    expect(d.starts()).toBe(2);
    d.shared.renew();
    await d.clock.advance(20_000);
    expect(c.reason()).toContain("is being restarted");
  });

  it("comes back for clients of every version, whoever is first", async () => {
    const d = double();
    const [a, b] = [d.connect(), d.connect()];
    await a.ready();
    await b.ready("2025-06-18");
    d.dies();
    await turn();
    await d.connect().ready("2025-06-18");
    expect(d.starts()).toBe(2);
    expect(d.got()[0]?.params?.["protocolVersion"]).toBe("2025-11-25");
    // Once nobody is left who could come back, the next client chooses.
    await d.connect().ready();
    d.shared.renew();
    await d.clock.advance(20_000);
    const last = d.connect();
    await last.ready();
    last.end();
    await turn();
    await d.clock.advance(60_000);
    await d.connect().ready("2025-06-18");
    expect(d.got()[0]?.params?.["protocolVersion"]).toBe("2025-06-18");
  });

  it("tells only the client whose initialize no server could answer", async () => {
    const d = double();
    const [a, b] = [d.connect(), d.connect()];
    for (const protocolVersion of [1, "", "latest", undefined])
      a.says({ id: "bad", method: "initialize", params: { protocolVersion } });
    await turn();
    expect(a.heard.map(({ error }) => error?.code)).toEqual(Array(4).fill(-32602));
    expect(d.starts()).toBe(0);
    await Promise.all([b.ready(), a.ready()]);
    expect(a.heard.at(-1)).toHaveProperty("result");
  });

  it("that does not answer ends for all who wait, and is started again for the next", async () => {
    const d = double({ startTimeoutMs: 5_000 }, false);
    const [a, b] = [d.connect(), d.connect()];
    await Promise.all([a.ready(), b.ready()]);
    await d.clock.advance(5_000);
    expect([a.reason(), b.reason()]).toEqual(
      Array(2).fill('Server "db" did not answer "initialize" within 5000 ms'),
    );
    await d.connect().ready();
    expect(d.starts()).toBe(2);
  });

  it("does not wait for a client that does not read", async () => {
    const d = double();
    const [slow, b] = [d.shared.connect(), d.connect()];
    const params = { protocolVersion: "2025-11-25" };
    slow.stdin.write(line({ id: 1, method: "initialize", params }));
    await b.ready();
    slow.stdin.write(line({ method: "notifications/initialized" }));
    let reason: string | undefined;
    void slow.exited.then((exit) => (reason = exit.reason));
    const large = "x".repeat(9_000_000);
    for (let sent = 0; sent < 17 && reason === undefined; sent++) {
      slow.stdin.write(line(call(sent)));
      await turn();
      d.says({ id: calls(d).at(-1)?.id, result: { large } });
      await turn();
    }
    expect(reason).toBe("its client reads too slowly");
    b.says(call("b"));
    await turn();
    d.says({ id: calls(d).at(-1)?.id, result: {} });
    await turn();
    expect(b.heard.at(-1)).toMatchObject({ id: "b", result: {} });
  });
});
