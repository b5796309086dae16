import {
  type ConsentGate,
  type JsonObject,
  type Pending,
  type Performance,
  type Release,
  systemClock,
  type ToolAction,
  toolAction,
  type Verdict,
} from "@acp/core";
import { createMasker, Secret } from "@acp/core/vault";
import { describe, expect, it } from "vitest";
import { createAside } from "./aside.js";
import { LONG_ARGUMENT_CHARS } from "./limits.js";
import { createLoopTurns } from "./loop-turns.js";
import { createMasks, type Masks } from "./masks.js";
import { type CallJob, type CallParts, startCall, type ToolCall } from "./tool-call.js";

/** A gate that says what the test wants; the real one is in the tests of the whole proxy. */
function gateOf(
  opened: (action: ToolAction) => Verdict | Pending,
  release: Partial<Release> = {},
): ConsentGate & { readonly performed: number } {
  const gate = {
    open: async (action: ToolAction) => opened(action),
    performed: 0,
    async runOrOpen(action: ToolAction, { perform, signal }: Performance<unknown>) {
      const verdict = opened(action);
      if (verdict.decision === "pending") return verdict;
      // The real one waits for its log here.
      await Promise.resolve();
      if (verdict.decision === "deny" || signal?.aborted === true) return { ran: false, verdict };
      return gate.perform(verdict, perform);
    },
    async perform(
      verdict: Verdict & { decision: "allow" },
      perform: (release: Release) => Promise<unknown>,
    ) {
      gate.performed++;
      const value = await perform(releaseOf({ action: verdict.action, ...release }));
      return { ran: true, value, verdict, recorded: false, completed: Promise.resolve(false) };
    },
  };
  return gate as unknown as ConsentGate & { readonly performed: number };
}

function releaseOf(parts: Partial<Release>): Release {
  return {
    action: toolAction("s", "t", {}),
    secrets: [],
    signal: new AbortController().signal,
    mask: (each) => each,
    masker: () => undefined,
    ...parts,
  };
}

const allow = (action: ToolAction): Verdict => ({
  decision: "allow",
  code: "policy_allowed",
  reason: "",
  action,
  permit: {} as never,
});

interface Run {
  readonly sent: string[];
  readonly forwarded: (JsonObject | undefined)[];
  readonly logs: string[];
  readonly call: ToolCall;
}

function run(gate: ConsentGate, job: Partial<CallJob> = {}, masks: Masks = createMasks()): Run {
  const [sent, logs]: string[][] = [[], []];
  const forwarded: (JsonObject | undefined)[] = [];
  const parts: CallParts = {
    gate,
    agent: { id: "a" },
    clock: systemClock,
    masks,
    progressEveryMs: 10_000,
    aside: createAside(),
    turns: createLoopTurns(),
    pendingAfterMs: 45_000,
    log: (line) => logs?.push(line),
    send: (line) => sent?.push(line.toString()),
  };
  const call = startCall(parts, {
    id: 1,
    server: "s",
    tool: "t",
    args: { a: 1 },
    argumentChars: 7,
    progressToken: undefined,
    typedResults: false,
    definition: () => Promise.resolve(undefined),
    forward(args, onAnswer): void {
      forwarded.push(args);
      onAnswer(Buffer.from('{"id":1,"result":"the secret is hunter2"}\n'));
    },
    onOver: () => {},
    ...job,
  });
  return { sent: sent ?? [], logs: logs ?? [], forwarded, call };
}

describe("startCall()", () => {
  it("sends nothing where the call was taken back as its turn came", async () => {
    const enter = (): Promise<() => void> => {
      started.call.cancel();
      return Promise.resolve(() => {});
    };
    const limits = { turn: () => ({ timeoutMs: 0, enter, leave: () => {} }) };
    const started = run(gateOf(allow), { limits });
    await started.call.over;
    expect(started.forwarded).toEqual([]);
    expect(started.sent).toEqual([]);
  });

  it("forwards the arguments as received, and passes the answer's bytes on", async () => {
    const { call, sent, forwarded, logs } = run(gateOf(allow));
    await call.over;
    expect(forwarded).toEqual([undefined]);
    expect(sent).toEqual(['{"id":1,"result":"the secret is hunter2"}\n']);
    expect(logs).toEqual(["[s] the audit log could not keep that a call is completed"]);
  });

  it("reads a long call's arguments, and judges them, each in a later turn of the event loop", async () => {
    const log: string[] = [];
    const args = new Proxy({ a: 1 }, { ownKeys: () => (log.push("read"), ["a"]) });
    const gate = gateOf((action) => (log.push("judged"), allow(action)));
    const { call } = run(gate, { args, argumentChars: LONG_ARGUMENT_CHARS + 1 });
    for (let turn = 1; turn < 5; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`turn ${turn}`);
    }
    await call.over;
    const [read, judged] = [log.indexOf("read"), log.indexOf("judged")];
    expect(log.slice(read, judged).join()).toContain("turn");
    expect(log.filter((each) => each === "read").length).toBeGreaterThan(0);
    const short: string[] = [];
    const quick = run(gateOf((action) => (short.push("judged"), allow(action))));
    for (let times = 0; times < 20; times++) await Promise.resolve();
    expect(short).toEqual(["judged"]);
    await quick.call.over;
  });

  it("forwards the released arguments where they differ, and only then", async () => {
    const same = run(gateOf(allow, { action: toolAction("s", "t", { a: 1 }) }));
    await same.call.over;
    expect(same.forwarded).toEqual([undefined]);
    const other = run(gateOf(allow, { action: toolAction("s", "t", { a: 2 }) }));
    await other.call.over;
    expect(other.forwarded).toEqual([{ a: 2 }]);
  });

  it.each([
    ["another tool", toolAction("s", "other", { a: 1 })],
    ["another server", toolAction("other", "t", { a: 1 })],
  ])("forwards nothing when the released action is %s's", async (_whose, action) => {
    const { call, sent, forwarded, logs } = run(gateOf(allow, { action }));
    await call.over;
    expect(forwarded).toEqual([]);
    expect(sent[0]).toContain('"code":"internal_error"');
    expect(logs).toEqual([
      "[s] a call failed inside the proxy: the released action is another tool's",
    ]);
  });

  it("has what its release knows masked in whatever servers say, before anything is sent to one", async () => {
    const masks = createMasks();
    const heard: (string | undefined)[] = [];
    const line = Buffer.from('{"id":1,"result":"the secret is hunter2-hunter2"}\n');
    const { call } = run(
      gateOf(allow, {
        masker: () => createMasker([new Secret({ name: "S", value: "hunter2-hunter2" })]),
      }),
      {
        forward(_args, onAnswer): void {
          heard.push(masks.line(line, () => false)?.toString());
          onAnswer(line);
        },
      },
      masks,
    );
    await call.over;
    expect(heard).toEqual(['{"id":1,"result":"the secret is [secret S]"}\n']);
  });

  it.each([
    [
      "a text",
      '{"id":1,"result":"the secret is hunter2-hunter2"}\n',
      '{"id":1,"result":"the secret is [secret S]"}\n',
    ],
    [
      "an object",
      '{"id":1,"result":{"a":1,"b":2}}\n',
      expect.stringContaining('"code":"secret_in_answer"') as string,
    ],
  ])(
    "masks %s in the answer with what its own release knows, where another one came since",
    async (_what, answer, shown) => {
      const masks = createMasks();
      const secrets = [
        new Secret({ name: "S", value: "hunter2-hunter2" }),
        new Secret({ name: "T", value: '{"a":1,"b":2}' }),
      ];
      const { call, sent } = run(
        gateOf(allow, { masker: () => createMasker(secrets) }),
        {
          forward(_args, onAnswer): void {
            masks.learn(
              releaseOf({
                masker: () => createMasker([new Secret({ name: "OTHER", value: "another value" })]),
              }),
            );
            onAnswer(Buffer.from(answer));
          },
        },
        masks,
      );
      await call.over;
      expect(sent).toEqual([shown]);
    },
  );

  it("forwards nothing once it was cancelled while it was judged, and answers nothing", async () => {
    const gate = gateOf(allow);
    const { call, sent, forwarded } = run(gate);
    expect(call.cancel()).toBe(false);
    await call.over;
    expect(forwarded).toEqual([]);
    expect(gate.performed).toBe(0);
    expect(sent).toEqual([]);
    expect(call.cancel()).toBe(false);
  });

  it("forwards nothing once it was cancelled while it was released", async () => {
    const gate = gateOf(allow);
    const perform = gate.perform.bind(gate);
    const { call, sent, forwarded } = run(
      Object.assign(gate, {
        perform: (...args: Parameters<typeof perform>) => (call.cancel(), perform(...args)),
      }),
    );
    await call.over;
    expect(gate.performed).toBe(1);
    expect(forwarded).toEqual([]);
    expect(sent).toEqual([]);
  });

  it("forwards nothing once its server failed while it was judged, and says so", async () => {
    const { call, sent, forwarded } = run(gateOf(allow));
    call.fail({ server: "s", reason: 'Server "s" exited with code 1' });
    await call.over;
    expect(forwarded).toEqual([]);
    expect(sent[0]).toContain('"code":"server_unavailable"');
  });

  it("acts on no yes that comes after the client is gone", async () => {
    let decide: (verdict: Verdict) => void = () => {};
    const left: string[] = [];
    const settled = new Promise<Verdict>((resolve) => {
      decide = resolve;
    });
    const pending: Pending = {
      decision: "pending",
      requestId: "cr_1",
      expiresAtMs: 0,
      settled,
      withdraw: async () => {},
      leave: async (reason) => void left.push(reason),
      defer: async () => true,
    };
    const { call, forwarded } = run(gateOf(() => pending));
    call.leave();
    await new Promise((resolve) => setImmediate(resolve));
    expect(left).toEqual(["the client is gone"]);
    decide(allow(toolAction("s", "t", { a: 1 })));
    await call.over;
    expect(forwarded).toEqual([]);
  });

  it("uses the verdict when the question is over before it can be deferred", async () => {
    const pending: Pending = {
      decision: "pending",
      requestId: "cr_1",
      expiresAtMs: 0,
      settled: new Promise((resolve) =>
        setTimeout(() => resolve(allow(toolAction("s", "t", { a: 1 }))), 30),
      ),
      withdraw: async () => {},
      leave: async () => {},
      defer: async () => false,
    };
    const gate = gateOf(() => pending);
    const sent: string[] = [];
    const call = startCall(
      {
        gate,
        agent: { id: "a" },
        clock: systemClock,
        masks: createMasks(),
        progressEveryMs: 1,
        aside: createAside(),
        turns: createLoopTurns(),
        pendingAfterMs: 1,
        log: () => {},
        send: (line) => sent.push(line.toString()),
      },
      {
        id: 1,
        server: "s",
        tool: "t",
        args: { a: 1 },
        argumentChars: 7,
        progressToken: undefined,
        typedResults: false,
        definition: async () => undefined,
        forward: (_, onAnswer) => onAnswer(Buffer.from("answer\n")),
        onOver: () => {},
      },
    );
    await call.over;
    expect(sent).toEqual(["answer\n"]);
  });

  it("answers with internal_error when the gate throws, which it never should", async () => {
    const { call, sent, forwarded } = run(
      gateOf(() => {
        throw new Error("broken\ngate");
      }),
    );
    await call.over;
    expect(forwarded).toEqual([]);
    expect(sent[0]).toContain('"code":"internal_error"');
    expect(sent[0]).not.toContain("broken");
  });
});
