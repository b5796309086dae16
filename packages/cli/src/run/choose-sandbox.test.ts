import { describe, expect, it } from "vitest";
import { ConsentError } from "@acp/core";
import type { SandboxLevel, SandboxReport } from "@acp/core";
import type { HeldAgent, LinuxSandbox, LinuxSandboxName } from "@acp/sandbox-linux";
import { chooseSandbox } from "./choose-sandbox.js";

/** Holds where it is available at the level, and says so of the hold as of the probe. */
function sandbox(
  name: LinuxSandboxName,
  level: SandboxLevel,
  isAvailable = true,
): LinuxSandbox & { readonly held: HeldAgent } {
  const report: SandboxReport = {
    sandbox: name,
    isAvailable,
    level,
    reason: `${name} is so`,
    fix: `mend ${name}`,
    dns: "closed",
    items: [],
  };
  const nothing = (): Promise<never> => Promise.reject(new Error("nothing is started"));
  const held: HeldAgent = { report, go: nothing, close: () => Promise.resolve() };
  return { name, probe: () => Promise.resolve(report), hold: nothing, spawn: nothing, held };
}

const LEVELS: readonly SandboxLevel[] = ["none", "advisory", "partial", "uid", "full"];

function choose(
  all: readonly ReturnType<typeof sandbox>[],
  level: SandboxLevel | undefined,
  broken?: string,
): Promise<HeldAgent> {
  return chooseSandbox(all, level, (each) => {
    const found = all.find(({ name }) => name === each.name);
    if (found === undefined || broken === each.name)
      return Promise.reject(
        new ConsentError("sandbox_failed", `Cannot start an agent in "${each.name}"`),
      );
    const { isAvailable, level: has } = found.held.report;
    const isEnough = isAvailable && LEVELS.indexOf(has) >= LEVELS.indexOf(level ?? "none");
    return isEnough
      ? Promise.resolve(found.held)
      : Promise.reject(new ConsentError("sandbox_unavailable", "not here"));
  });
}

describe("chooseSandbox()", () => {
  it("takes the first that holds at the level", async () => {
    const all = [
      sandbox("namespace", "none", false),
      sandbox("landlock", "partial"),
      sandbox("env", "none"),
    ];
    expect(await choose(all, "partial")).toBe(all[1]?.held);
  });

  it("takes one that holds nothing where no level is required", async () => {
    expect(await choose([sandbox("env", "none")], undefined)).toMatchObject({
      report: { level: "none" },
    });
  });

  it("takes none that cannot start, whatever its level", async () => {
    await expect(choose([sandbox("env", "none", false)], undefined)).rejects.toMatchObject({
      code: "sandbox_unavailable",
    });
    await expect(choose([sandbox("namespace", "full", false)], "partial")).rejects.toMatchObject({
      code: "sandbox_unavailable",
    });
  });

  it("says of each why it is not taken, and what would mend it", async () => {
    const all = [sandbox("namespace", "none", false), sandbox("landlock", "partial")];
    await expect(choose(all, "full")).rejects.toMatchObject({
      code: "sandbox_unavailable",
      message:
        'Cannot run the command: no sandbox asked for reaches level "full" here: namespace cannot start (namespace is so; mend namespace); landlock has level "partial" (landlock is so; mend landlock)',
    });
  });

  it("goes on to nothing weaker where one that can start fails to", async () => {
    const all = [sandbox("namespace", "full"), sandbox("landlock", "partial")];
    await expect(choose(all, "partial", "namespace")).rejects.toMatchObject({
      code: "sandbox_failed",
      message: 'Cannot start an agent in "namespace"',
    });
  });

  it("hands on what is wrong with the command or its options", async () => {
    const wrong = new ConsentError("options_invalid", "Cannot show it");
    await expect(
      chooseSandbox([sandbox("namespace", "full")], undefined, () => Promise.reject(wrong)),
    ).rejects.toBe(wrong);
  });
});
