import type { SandboxLevel, SandboxReport } from "@acp/core";
import type { LinuxSandbox } from "@acp/sandbox-linux";
import { describe, expect, it } from "vitest";
import { passSignals } from "./pass-signals.js";
import type { RunPlan } from "./plan.js";
import { startAgent } from "./start-agent.js";
import type { StartAgentParts } from "./start-agent.js";

const reportOf = (level: SandboxLevel): SandboxReport => ({
  sandbox: "namespace",
  level,
  isAvailable: true,
  reason: "it is so",
  dns: "closed",
  items: [],
});

/** Everything that a start is said to be. */
interface Start extends StartAgentParts {
  readonly seen: { argv?: readonly string[]; options?: Parameters<LinuxSandbox["spawn"]>[1]; isClosed: boolean };
  readonly send: (name: NodeJS.Signals) => void;
}

/** A sandbox that was found to be at one level, and starts at another. */
function start(found: SandboxLevel, starts: SandboxLevel = found, more: Partial<RunPlan> = {}): Start {
  const seen: { argv?: readonly string[]; options?: Parameters<LinuxSandbox["spawn"]>[1]; isClosed: boolean } = { isClosed: false };
  const sandbox: LinuxSandbox = {
    name: "namespace",
    probe: () => Promise.resolve(reportOf(found)),
    spawn: (argv, options) => {
      Object.assign(seen, { argv, options });
      const exited = Promise.resolve({ code: 0, signal: undefined });
      const close = (): Promise<void> => Promise.resolve(void (seen.isClosed = true));
      return Promise.resolve({
        report: reportOf(starts),
        pid: 1,
        exited,
        stdin: undefined,
        stdout: undefined,
        stderr: undefined,
        kill: () => {},
        close,
      });
    },
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
    hostPorts: [],
  };
  const io = { env: { NAMED: "1", HIDDEN: "2" } };
  return {
    invocation: { io },
    plan: { ...base, ...more },
    chosen: { sandbox, report: reportOf(found) },
    signals,
    seen,
    send: (name) => take(name),
  };
}

describe("startAgent()", () => {
  it("asks for the level that was found, with what the plan says", async () => {
    const parts = start("full");
    await startAgent(parts, () => {});
    expect(parts.seen).toMatchObject({ argv: ["agent", "--flag"], options: { requiredLevel: "full", cwd: "/w", stdio: "inherit" } });
    expect(Object.keys(parts.seen.options?.files ?? {})).toEqual(["fetch-patch.mjs"]);
    const env = parts.seen.options?.env({ port: 1, files: "/f", home: "/h" });
    expect(env).toMatchObject({ NAMED: "1", HOME: "/h", ACP_SANDBOX: "namespace" });
    expect(env).not.toHaveProperty("HIDDEN");
  });

  it("takes pipes for an agent that speaks MCP", async () => {
    const parts = start("full", "full", { speaksMcp: true });
    await startAgent(parts, () => {});
    expect(parts.seen.options?.stdio).toBe("pipe");
  });

  it.each([
    ["full", "partial"],
    ["partial", "none"],
    ["uid", "full"],
  ] as const)("ends an agent that was found to be at %s and is at %s", async (found, starts) => {
    const parts = start(found, starts);
    await expect(startAgent(parts, () => {})).rejects.toMatchObject({ code: "sandbox_failed" });
    expect(parts.seen.isClosed).toBe(true);
  });

  it("starts nothing once a signal has come that ends us", async () => {
    const parts = start("full");
    parts.send("SIGTERM");
    await expect(startAgent(parts, () => {})).rejects.toThrow("SIGTERM");
    expect(parts.seen.argv).toBeUndefined();
  });
});
