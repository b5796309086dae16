import { memoryAuditSink } from "@acp/audit";
import { createConsentGate, httpAction } from "@acp/core";
import type { RunResult } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { scriptedChannel } from "@acp/testing";
import type { ScriptedChannel } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createAskedGate } from "./ask-ahead.js";
import type { AskedGate } from "./ask-ahead.js";

const AGENT = { id: "agent" };
const POLICY = parsePolicy({
  version: "1",
  default_action: "deny",
  rules: [
    { id: "open", match: { kind: "http", host: "open.example" }, action: "allow" },
    { id: "tunnels", match: { kind: "http", host: "*.model.example" }, action: "ask" },
  ],
});
const tunnel = (host: string): ReturnType<typeof httpAction> =>
  httpAction("CONNECT", `${host}:443`, { headers: {} });
const MODEL = tunnel("api.model.example");

interface Kit {
  readonly channel: ScriptedChannel;
  readonly said: string[];
  ask(hosts: readonly string[], signal?: AbortSignal): Promise<AskedGate>;
  isAllowed(gate: AskedGate, action?: ReturnType<typeof httpAction>): Promise<boolean>;
}

function kit(...script: Parameters<typeof scriptedChannel>): Kit {
  const channel = scriptedChannel(...script);
  const gate = createConsentGate({
    policy: POLICY,
    channel,
    audit: memoryAuditSink(),
    retryWindowMs: 0,
  });
  const said: string[] = [];
  return {
    channel,
    said,
    async ask(hosts, signal = new AbortController().signal) {
      const asked = createAskedGate(gate);
      await asked.ask({
        agent: AGENT,
        tunnels: hosts.map(tunnel),
        signal,
        attached: () => undefined,
        say: (line) => said.push(line),
      });
      return asked;
    },
    async isAllowed(own, action = MODEL) {
      const { ran }: RunResult<string> = await own.run(action, () => Promise.resolve("done"), {
        agent: AGENT,
      });
      return ran;
    },
  };
}

describe("createAskedGate()", () => {
  it("gives each yes to the first request that it is for, and to no other", async () => {
    const { ask, isAllowed, channel, said } = kit(["approve", "deny", "deny"]);
    const gate = await ask(["api.model.example"]);
    expect(said).toEqual([
      "Asking once for api.model.example, which the command's model needs; let your approval cover the host",
    ]);
    expect(await isAllowed(gate, tunnel("other.model.example"))).toBe(false);
    expect(await isAllowed(gate)).toBe(true);
    expect(await isAllowed(gate)).toBe(false);
    expect(channel.asked).toHaveLength(3);
  });

  it("asks about nothing that the policy decides", async () => {
    const { ask, isAllowed, channel } = kit([]);
    const gate = await ask(["open.example", "closed.example"]);
    expect(await isAllowed(gate, tunnel("open.example"))).toBe(true);
    expect(channel.asked).toEqual([]);
  });

  it("says that somebody said no, and asks again when the agent comes to it", async () => {
    const { ask, isAllowed, said } = kit(["deny", "approve"]);
    const gate = await ask(["api.model.example"]);
    expect(said[1]).toMatch(/^No tunnel to api\.model\.example yet: /u);
    expect(await isAllowed(gate)).toBe(true);
  });

  it("gives up when the start is called off", async () => {
    const { ask } = kit(["hang"]);
    const stop = new AbortController();
    const asked = ask(["api.model.example"], stop.signal);
    stop.abort(new Error("SIGINT"));
    await expect(asked).rejects.toThrow("SIGINT");
  });

  it("performs nothing twice", async () => {
    const { ask } = kit(["approve", "deny"]);
    const gate = await ask(["api.model.example"]);
    let times = 0;
    const act = (): Promise<number> => Promise.resolve((times += 1));
    const all = [1, 2, 3].map(() => gate.run(MODEL, act, { agent: AGENT }));
    await Promise.all(all);
    expect(times).toBe(1);
  });
});
