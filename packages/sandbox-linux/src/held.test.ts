import { describe, expect, it } from "vitest";
import { ConsentError } from "@acp/core";
import { type HeldParts, makeHeld, spawnHeld } from "./held.js";
import type { ConnectionTakers, HeldAgent, HoldOptions, LinuxSandboxedProcess } from "./parts.js";

const report = {
  sandbox: "namespace",
  level: "full",
  isAvailable: true,
  reason: "it is so",
  dns: "closed",
  items: [],
} as const;
const running: LinuxSandboxedProcess = {
  report,
  pid: 1,
  exited: Promise.resolve({ code: 0, signal: undefined }),
  stdin: undefined,
  stdout: undefined,
  stderr: undefined,
  kill: () => {},
  close: () => Promise.resolve(),
};
const takers: ConnectionTakers = { onConnection: () => {} };

function held(go: HeldParts["go"] = () => running): {
  readonly agent: HeldAgent;
  readonly ended: () => number;
} {
  let count = 0;
  const end = (): Promise<void> => Promise.resolve(void (count += 1));
  const undo = async (cause: unknown): Promise<never> => {
    await end();
    throw cause;
  };
  return { agent: makeHeld({ report, go, end, undo }), ended: () => count };
}

describe("makeHeld()", () => {
  it("lets an agent go once, and does not end it afterwards", async () => {
    const { agent, ended } = held();
    expect(await agent.go(takers)).toBe(running);
    await expect(agent.go(takers)).rejects.toMatchObject({ code: "sandbox_failed" });
    await agent.close();
    expect(ended()).toBe(0);
  });

  it("ends one once, and does not let it go afterwards", async () => {
    const { agent, ended } = held();
    await agent.close();
    await agent.close();
    await expect(agent.go(takers)).rejects.toMatchObject({ code: "sandbox_failed" });
    expect(ended()).toBe(1);
  });

  it("ends one that cannot begin", async () => {
    const { agent, ended } = held(() => {
      throw new ConsentError("sandbox_failed", "gone");
    });
    await expect(agent.go(takers)).rejects.toThrow("gone");
    expect(ended()).toBe(1);
  });
});

describe("spawnHeld()", () => {
  it("holds with the numbers of the ports, and goes with their takers", async () => {
    const seen: { options?: HoldOptions; takers?: ConnectionTakers } = {};
    const nothing = (): Promise<never> => Promise.reject(new Error("nothing to end"));
    const ports = new Map([[5432, (): void => {}]]);
    const hold = (_: readonly string[], options: HoldOptions): Promise<HeldAgent> => {
      seen.options = options;
      return Promise.resolve(
        makeHeld({
          report,
          go: (each) => ((seen.takers = each), running),
          end: nothing,
          undo: nothing,
        }),
      );
    };
    expect(await spawnHeld(hold, ["true"], { ...takers, ports, env: () => ({}) })).toBe(running);
    expect(seen.options?.ports).toEqual([5432]);
    expect(seen.options).not.toHaveProperty("onConnection");
    expect(seen.takers).toEqual({ ...takers, ports });
  });
});
