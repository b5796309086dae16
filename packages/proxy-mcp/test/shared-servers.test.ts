/**
 * One process of a server for several clients: whatever comes in whichever order, each client has
 * exactly its own answers, under its own ids, and nothing of another one's.
 */
import { manualClock } from "@acp/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSharedServer } from "../src/index.js";
import type { SharedServer } from "../src/index.js";
import type { ServerProcess } from "../src/server-process.js";
import type { Upstream, UpstreamHandlers } from "../src/upstream.js";

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

const line = (message: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A server that says what the test says. */
interface Double {
  readonly shared: SharedServer;
  readonly clock: ReturnType<typeof manualClock>;
  readonly logs: readonly string[];
  /** What the process of now got. */
  got(): readonly Message[];
  says(message: object): void;
  dies(): void;
  starts(): number;
  connect(): Client;
}

interface Client {
  readonly process: ServerProcess;
  readonly heard: readonly Message[];
  says(message: object): void;
  end(): void;
  reason(): string | undefined;
  /** Has it greeted. */
  ready(): Promise<void>;
}

const ABLE = {
  tools: {},
  resources: { subscribe: true },
  logging: {},
  tasks: {},
  experimental: { x: {} },
};

function double(limits: object = {}, answersInitialize = true): Double {
  const logs: string[] = [];
  const clock = manualClock();
  let handlers: UpstreamHandlers | undefined;
  let got: Message[] = [];
  let starts = 0;
  const start = (own: UpstreamHandlers): Upstream => {
    handlers = own;
    got = [];
    starts++;
    return {
      name: "db",
      pause: () => {},
      close: () => Promise.resolve(),
      send(bytes) {
        const message = JSON.parse(bytes.toString("utf8")) as Message;
        got.push(message);
        if (message.method === "initialize" && answersInitialize)
          setImmediate(() =>
            says({
              id: message.id,
              result: { protocolVersion: "2025-11-25", capabilities: ABLE, serverInfo: {} },
            }),
          );
      },
    };
  };
  const says = (message: object): void => handlers?.onLine(Buffer.from(line(message)));
  const shared = createSharedServer(
    { name: "db", command: ["x"], limits },
    { clientInfo: { name: "acp", version: "0" }, log: (each) => logs.push(each), clock, start },
  );
  return {
    shared,
    clock,
    logs,
    got: () => got,
    says,
    dies: () => handlers?.onEnd({ server: "db", reason: 'Server "db" exited with code 3' }),
    starts: () => starts,
    connect: () => client(shared.connect()),
  };
}

function client(process: ServerProcess): Client {
  const heard: Message[] = [];
  let rest = "";
  process.stdout.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString("utf8")).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) heard.push(JSON.parse(part) as Message);
  });
  let reason: string | undefined;
  void process.exited.then((exit) => (reason = exit.reason ?? "ended"));
  const says = (message: object): void => void process.stdin.write(line(message));
  return {
    process,
    heard,
    says,
    end: () => void process.stdin.end(),
    reason: () => reason,
    async ready() {
      const params = {
        protocolVersion: "2025-11-25",
        capabilities: { sampling: {} },
        clientInfo: { name: "secret-agent" },
      };
      says({ id: "init", method: "initialize", params });
      for (let waited = 0; waited < 50 && !heard.some(({ id }) => id === "init"); waited++)
        await turn();
      says({ method: "notifications/initialized" });
      await turn();
    },
  };
}

async function two(limits?: object): Promise<Double & { a: Client; b: Client }> {
  const d = double(limits);
  const [a, b] = [d.connect(), d.connect()];
  await Promise.all([a.ready(), b.ready()]);
  return { ...d, a, b };
}

const call = (id: string | number, more: object = {}): object => ({
  id,
  method: "tools/call",
  params: { name: "echo", arguments: { id }, ...more },
});
/** Calls that the process has and did not answer. */
const calls = (d: Double): readonly Message[] =>
  d.got().filter(({ method }) => method === "tools/call");

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
    const ofB = calls(d).filter(
      ({ params }) => typeof (params?.["arguments"] as { id: unknown }).id === "string",
    );
    expect(ofB).toHaveLength(2);
    d.says({ id: ofB[0]?.id, result: {} });
    await turn();
    expect((calls(d).at(-1)?.params?.["arguments"] as { id: unknown }).id).toBe("d");
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
    b.process.kill();
    await ready;
    await c.ready();
    expect(d.starts()).toBe(2);
    d.shared.renew();
    await d.clock.advance(20_000);
    expect(c.reason()).toContain("is being restarted");
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
    slow.stdin.write(line({ id: 1, method: "initialize", params: {} }));
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

  it("gives each client its own answers, whatever the order, also where it dies", async () => {
    const CLIENTS = 3;
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          do: fc.constant("call" as const),
          of: fc.nat(CLIENTS - 1),
          id: fc.nat(5),
        }),
      },
      { weight: 5, arbitrary: fc.record({ do: fc.constant("answer" as const), at: fc.nat(20) }) },
      {
        weight: 2,
        arbitrary: fc.record({
          do: fc.constant("cancel" as const),
          of: fc.nat(CLIENTS - 1),
          id: fc.nat(5),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ do: fc.constant("leave" as const), of: fc.nat(CLIENTS - 1) }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant("die" as const) }) },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 4 }),
        async (steps, callsMax) => {
          const d = double({ callsMax });
          const all = Array.from({ length: CLIENTS }, () => d.connect());
          await Promise.all(all.map((each) => each.ready()));
          const open = all.map(() => new Map<number, string>());
          const isGone = all.map(() => false);
          let nonce = 0;
          const done = new Set<string | number>();
          for (const each of steps) {
            let answered: string | undefined;
            if (each.do === "call") {
              // A client uses no id twice at a time.
              if (open[each.of]?.has(each.id) === true || isGone[each.of] === true) continue;
              const mine = `${each.of}-${nonce++}`;
              open[each.of]?.set(each.id, mine);
              all[each.of]?.says(call(each.id, { arguments: { mine } }));
            } else if (each.do === "answer") {
              const waiting = calls(d).filter(({ id }) => id !== undefined && !done.has(id));
              const one = waiting[each.at % Math.max(1, waiting.length)];
              if (one?.id !== undefined) {
                done.add(one.id);
                answered = (one.params?.["arguments"] as { mine: string }).mine;
                d.says({ id: one.id, result: { mine: answered } });
              }
            } else if (each.do === "cancel") {
              if (open[each.of]?.delete(each.id) === true)
                all[each.of]?.says({
                  method: "notifications/cancelled",
                  params: { requestId: each.id },
                });
            } else if (each.do === "leave") {
              isGone[each.of] = true;
              all[each.of]?.process.kill();
            } else {
              d.dies();
              isGone.fill(true);
            }
            await turn();
            for (const [of, { heard }] of all.entries())
              for (const { id, result, error } of (heard as Message[]).splice(0)) {
                if (id === "init" || typeof id !== "number") continue;
                const mine = open[of]?.get(id);
                // Exactly one answer to what is open, with what was asked for.
                expect(mine).toBeDefined();
                if (error === undefined) expect(result).toEqual({ mine });
                else expect(error.message).toContain("exited with code 3");
                open[of]?.delete(id);
              }
            // What the server answered has come, to whom it was for.
            const waits = open.flatMap((each, of) => (isGone[of] ? [] : [...each.values()]));
            expect(waits).not.toContain(answered);
          }
          for (const each of all) each.process.kill();
          await d.shared.close();
        },
      ),
    );
  });
});
