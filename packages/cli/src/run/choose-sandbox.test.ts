import { describe, expect, it } from "vitest";
import type { SandboxLevel, SandboxReport } from "@acp/core";
import type { LinuxSandbox, LinuxSandboxName } from "@acp/sandbox-linux";
import { chooseSandbox } from "./choose-sandbox.js";

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
