import { describe, expect, it } from "vitest";
import { allowAll, asPending, first, makeKit, reply } from "../../test/gate-kit.js";
import { type GateContext, httpAction, type Layer, toolAction, type Verdict } from "../index.js";

const action = toolAction("files", "write_file", { path: "a.txt" });
const MEGABYTES_5 = "x".repeat(5 * 1024 * 1024);

/** A context of any shape: who calls from JavaScript is held to no type. */
const untyped = (context: unknown): GateContext => context as GateContext;

const thrower = {
  get(): never {
    throw new Error("gotcha");
  },
};
const throwingProxy = new Proxy(
  {},
  {
    get: thrower.get,
    has: thrower.get,
    ownKeys: thrower.get,
    getOwnPropertyDescriptor: thrower.get,
    getPrototypeOf: thrower.get,
  },
);

const signalThatThrows = new AbortController().signal;
Object.defineProperty(signalThatThrows, "aborted", thrower);

const REFUSED: Readonly<Record<string, unknown>> = {
  "no context": undefined,
  "no agent": {},
  "an agent without an id": { agent: {} },
  "an empty id": { agent: { id: "" } },
  "an id of 5 MB": { agent: { id: MEGABYTES_5 } },
  "an id that is no text": { agent: { id: { toString: () => "demo" } } },
  "an id with half a character": { agent: { id: "\ud800" } },
  "a name of 5 MB": { agent: { id: "demo", name: MEGABYTES_5 } },
  "a command of 5 MB": { agent: { id: "demo", command: MEGABYTES_5 } },
  "a parent of 5 MB": { agent: { id: "demo", parents: [MEGABYTES_5] } },
  "65 parents": { agent: { id: "demo", parents: Array.from({ length: 65 }, (_, at) => `p${at}`) } },
  "a million holes for parents": {
    agent: { id: "demo", parents: Object.assign([], { length: 1_000_000 }) },
  },
  "parents that are no list": { agent: { id: "demo", parents: "root" } },
  "a session of 5 MB": { agent: { id: "demo" }, session: MEGABYTES_5 },
  "an empty session": { agent: { id: "demo" }, session: "" },
  "a task of 5 MB": { agent: { id: "demo" }, task: MEGABYTES_5 },
  "a task that is no text": { agent: { id: "demo" }, task: 7 },
  "a tool without a name": { agent: { id: "demo" }, tool: { server: "files" } },
  "a tool of a server of 5 MB": { agent: { id: "demo" }, tool: { server: MEGABYTES_5, name: "t" } },
  "a tool with a schema of 5 MB": {
    agent: { id: "demo" },
    tool: { server: "s", name: "t", inputSchema: { description: MEGABYTES_5 } },
  },
  "a tool with a schema that holds a function": {
    agent: { id: "demo" },
    tool: { server: "s", name: "t", inputSchema: { a: () => 1 } },
  },
  "a getter for the agent": Object.defineProperty({}, "agent", { get: () => ({ id: "demo" }) }),
  "a getter that throws": Object.defineProperty({}, "agent", thrower),
  "an agent's getter that throws": { agent: Object.defineProperty({}, "id", thrower) },
  "a Proxy that throws": throwingProxy,
  "a Proxy for the agent": { agent: throwingProxy },
  "a Proxy for the parents": { agent: { id: "demo", parents: throwingProxy } },
  "a Proxy for the signal": { agent: { id: "demo" }, signal: throwingProxy },
  "a signal that throws": { agent: { id: "demo" }, signal: signalThatThrows },
  "a signal that is none": {
    agent: { id: "demo" },
    signal: { aborted: false, addEventListener: () => undefined },
  },
  "an inherited agent": Object.create({ agent: { id: "demo" } }) as unknown,
};

describe("the door", () => {
  it.each(Object.entries(REFUSED))(
    "gate() denies %s with context_invalid and logs nothing of it",
    async (_, context) => {
      const { gate, sink } = makeKit({ policy: allowAll });
      const verdict = await gate(action, untyped(context));
      expect(verdict).toMatchObject({ decision: "deny", code: "context_invalid" });
      expect(verdict.reason.length).toBeLessThan(200);
      expect(JSON.stringify(sink.events).length).toBeLessThan(10_000);
    },
  );

  it.each(Object.entries(REFUSED))(
    "open(), run() and a wrapped function deny %s",
    async (_, context) => {
      const { gate } = makeKit({ policy: allowAll });
      let ran = 0;
      const perform = (): Promise<number> => Promise.resolve(++ran);
      const denied = { decision: "deny", code: "context_invalid" };
      expect(await gate.open(action, untyped(context))).toMatchObject(denied);
      expect(await gate.run(action, perform, untyped(context))).toMatchObject({
        ran: false,
        verdict: denied,
      });
      expect(await gate.wrap(() => action, perform)(undefined, untyped(context))).toMatchObject({
        ran: false,
        verdict: denied,
      });
      expect(ran).toBe(0);
    },
  );

  it("evaluate() answers a context that is none with a deny", () => {
    const { gate } = makeKit({ policy: allowAll });
    expect(gate.evaluate(action, untyped({ agent: throwingProxy }))).toMatchObject({
      failure: "context_invalid",
      ruling: { effect: "deny" },
    });
    expect(gate.evaluate({} as typeof action, { agent: { id: "demo" } })).toMatchObject({
      failure: "action_invalid",
    });
  });

  it("gate() keeps the agent as it was, whatever its caller does with it while a question is open", async () => {
    const agent = { id: "child", name: "Child", parents: ["local"] };
    const { gate, shown, settle, sink } = makeKit();
    const pending = asPending(await gate.open(action, { agent }));
    await settle();
    agent.parents.length = 0;
    agent.parents = [];
    agent.id = "other";
    const question = first(shown);
    expect(question.request.agent).toEqual({ id: "child", name: "Child", parents: ["local"] });
    expect(await question.session.submit(reply(question, { decision: "approved" }))).toMatchObject({
      code: "approver_not_allowed",
    });
    await pending.withdraw("enough");
    expect(await pending.settled).toMatchObject({ decision: "deny" });
    expect(new Set(sink.events.map((event) => event.agent))).toEqual(new Set(["child"]));
  });

  it("a channel cannot change the question that it shows", async () => {
    const { gate, shown, settle } = makeKit({
      approvers: [{ id: "ann", channel: "test", subject: "local" }],
    });
    const pending = asPending(
      await gate.open(action, { agent: { id: "demo", parents: ["root"] } }),
    );
    await settle();
    const { request } = first(shown);
    const changes = [
      () => (request.approvers as string[]).push("eve"),
      () => (request.agent.parents as string[]).pop(),
      () => ((request.policy as { requiredLevel: string }).requiredLevel = "low"),
      () => ((request.action as { tool: string }).tool = "read_file"),
      () => (request.offers as unknown[]).push({}),
      () => (request.secrets as string[]).push("TOKEN"),
    ];
    for (const change of changes) expect(change).toThrow(TypeError);
    await pending.withdraw("enough");
  });

  it("nobody can change what a question offers, also where its outside is frozen", async () => {
    const methods = ["GET"];
    const scope = Object.freeze({ kind: "host", host: "example.com", port: 443, methods });
    const { gate, shown, settle } = makeKit({
      defaultOffers: () => [{ id: "host", scope, ttlMs: 180_000 }],
    });
    const pending = asPending(
      await gate.open(httpAction("GET", "https://example.com/"), { agent: { id: "demo" } }),
    );
    await settle();
    methods.push("POST");
    expect(first(shown).request.offers).toMatchObject([{ scope: { methods: ["GET"] } }]);
    await pending.withdraw("enough");
  });

  it.each<readonly [string, GateContext]>([
    ["a plain agent", { agent: { id: "demo" } }],
    [
      "all that a context may have",
      { agent: { id: "demo", parents: ["root"] }, session: "s", task: "t" },
    ],
  ])("a judge cannot change what the next one hears of %s", async (_, context) => {
    const left: boolean[] = [];
    const meddling: Layer = {
      name: "meddling",
      judge(_action, facts) {
        left.push(
          Reflect.set(facts, "agent", { id: "root" }),
          Reflect.set(facts, "session", "mine"),
          Reflect.set(facts.agent, "id", "root"),
        );
        return undefined;
      },
    };
    const { gate, sink } = makeKit({ policy: allowAll, layers: [meddling] });
    expect(await gate(action, context)).toMatchObject({ decision: "allow" });
    expect(left).toEqual([false, false, false]);
    expect(new Set(sink.events.map((event) => event.agent))).toEqual(new Set(["demo"]));
  });

  it("gate() takes undefined for whatever may be left out", async () => {
    const { gate } = makeKit({ policy: allowAll });
    const context: GateContext = {
      agent: { id: "demo" },
      session: undefined,
      task: undefined,
      tool: undefined,
      signal: undefined,
    };
    expect(await gate(action, context)).toMatchObject({ decision: "allow" });
  });

  it("a signal that starts to throw while a question is open ends in a deny", async () => {
    const { signal } = new AbortController();
    const { gate, shown, settle } = makeKit();
    const verdict: Promise<Verdict> = gate(action, { agent: { id: "demo" }, signal });
    await settle();
    Object.defineProperty(signal, "aborted", thrower);
    Object.defineProperty(signal, "removeEventListener", thrower);
    const question = first(shown);
    await question.session.submit(reply(question, { decision: "approved" }));
    expect(await verdict).toMatchObject({ decision: "deny", code: "consent_cancelled" });
  });
});
