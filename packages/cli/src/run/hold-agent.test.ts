import type { HeldAgent, HoldOptions, LinuxSandbox } from "@acp/sandbox-linux";
import { describe, expect, it } from "vitest";
import { holdAgent } from "./hold-agent.js";
import type { HoldAgentParts } from "./hold-agent.js";
import { passSignals } from "./pass-signals.js";
import type { RunPlan } from "./plan.js";

/** A sandbox that keeps what it is told. */
interface Hold extends HoldAgentParts {
  readonly sandbox: LinuxSandbox;
  readonly seen: { argv?: readonly string[]; options?: HoldOptions };
  readonly send: (name: NodeJS.Signals) => void;
}

const HELD: HeldAgent = {
  report: {
    sandbox: "namespace",
    level: "full",
    isAvailable: true,
    reason: "it is so",
    dns: "closed",
    items: [],
  },
  go: () => Promise.reject(new Error("not let go")),
  close: () => Promise.resolve(),
};

function hold(more: Partial<RunPlan> = {}): Hold {
  const seen: Hold["seen"] = {};
  const sandbox: LinuxSandbox = {
    name: "namespace",
    probe: () => Promise.resolve(HELD.report),
    hold: (argv, options) =>
      Promise.resolve(Object.assign(seen, { argv, options })).then(() => HELD),
    spawn: () => Promise.reject(new Error("not spawned")),
  };
  let take: (name: NodeJS.Signals) => void = () => {};
  const signals = passSignals({ onSignals: (_names, taker) => (take = taker) });
  const base: RunPlan = {
    argv: ["agent", "--flag"],
    sandboxes: ["namespace"],
    speaksMcp: false,
    workspace: { path: "/w", access: "read-write" },
    readable: [],
    env: ["NAMED"],
    unixSockets: "none",
    dns: "closed",
    hostPorts: [5432],
  };
  const io = { env: { NAMED: "1", HIDDEN: "2" } };
  return {
    invocation: { io },
    plan: { ...base, ...more },
    sandbox,
    signals,
    seen,
    send: (name) => take(name),
  };
}

describe("holdAgent()", () => {
  it("asks for the level of the plan, with what it says", async () => {
    const parts = hold({ requiredLevel: "full" });
    expect(await holdAgent(parts, parts.sandbox)).toBe(HELD);
    expect(parts.seen).toMatchObject({
      argv: ["agent", "--flag"],
      options: { requiredLevel: "full", cwd: "/w", stdio: "inherit", ports: [5432] },
    });
    expect(Object.keys(parts.seen.options?.files ?? {})).toEqual(["fetch-patch.mjs"]);
    const env = parts.seen.options?.env({ port: 1, files: "/f", home: "/h" });
    expect(env).toMatchObject({ NAMED: "1", HOME: "/h", ACP_SANDBOX: "namespace" });
    expect(env).not.toHaveProperty("HIDDEN");
  });

  it("takes pipes for an agent that speaks MCP", async () => {
    const parts = hold({ speaksMcp: true });
    await holdAgent(parts, parts.sandbox);
    expect(parts.seen.options?.stdio).toBe("pipe");
  });

  it("starts nothing once a signal has come that ends us", async () => {
    const parts = hold();
    parts.send("SIGTERM");
    await expect(holdAgent(parts, parts.sandbox)).rejects.toThrow("SIGTERM");
    expect(parts.seen.argv).toBeUndefined();
  });
});
