import { describe, expect, it } from "vitest";
import type { SandboxLevel, SandboxReport } from "@acp/core";
import type { LinuxSandbox, LinuxSandboxName } from "@acp/sandbox-linux";
import { chooseSandbox, reaches } from "./choose-sandbox.js";

const LEVELS: readonly SandboxLevel[] = ["none", "advisory", "partial", "uid", "full"];

function sandbox(name: LinuxSandboxName, level: SandboxLevel, isAvailable = true): LinuxSandbox {
  const report: SandboxReport = {
    sandbox: name,
    isAvailable,
    level,
    reason: `${name} is so`,
    fix: `mend ${name}`,
    dns: "closed",
    items: [],
  };
  return { name, probe: () => Promise.resolve(report), spawn: () => Promise.reject(new Error("nothing is started")) };
}

it("reaches() holds of a level and every better one", () => {
  for (const [index, level] of LEVELS.entries())
    for (const [other, required] of LEVELS.entries()) expect(reaches(level, required)).toBe(index >= other);
});

describe("chooseSandbox()", () => {
  it("takes the first that can start at the level", async () => {
    const all = [sandbox("namespace", "none", false), sandbox("landlock", "partial"), sandbox("env", "none")];
    expect(await chooseSandbox(all, "partial")).toMatchObject({ sandbox: { name: "landlock" }, report: { level: "partial" } });
  });

  it("takes one that holds nothing where no level is required", async () => {
    expect(await chooseSandbox([sandbox("env", "none")], undefined)).toMatchObject({ report: { level: "none" } });
  });

  it("takes none that cannot start, whatever its level", async () => {
    await expect(chooseSandbox([sandbox("env", "none", false)], undefined)).rejects.toMatchObject({ code: "sandbox_unavailable" });
    await expect(chooseSandbox([sandbox("namespace", "full", false)], "partial")).rejects.toMatchObject({ code: "sandbox_unavailable" });
  });

  it("says of each why it is not taken, and what would mend it", async () => {
    const all = [sandbox("namespace", "none", false), sandbox("landlock", "partial")];
    await expect(chooseSandbox(all, "full")).rejects.toMatchObject({
      code: "sandbox_unavailable",
      message:
        'Cannot run the command: no sandbox asked for reaches level "full" here: namespace cannot start (namespace is so; mend namespace); landlock has level "partial" (landlock is so; mend landlock)',
    });
  });
});
