import { chmod, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { namespaces } from "../test/namespace-kit.js";
import { createLinuxSandbox, LINUX_SANDBOXES, probeLinuxSandboxes } from "./choose.js";
import type { LinuxSandboxName } from "./parts.js";

/** Where the tools of the host are looked for; left out: where they are. */
const host = vi.hoisted((): { directory: string | undefined } => ({ directory: undefined }));
vi.mock(import("./tools.js"), async (importOriginal) => {
  const real = await importOriginal();
  return {
    ...real,
    findTool: (name, reach) =>
      real.findTool(host.directory === undefined ? name : join(host.directory, name), reach),
  };
});

const nothing = { onConnection: () => undefined, env: () => ({}), stdio: "pipe" } as const;
let empty: string;
beforeEach(async () => {
  empty = await mkdtemp(join(tmpdir(), "acp-choose-"));
  await chmod(empty, 0o755);
});
afterEach(async () => {
  host.directory = undefined;
  await rm(empty, { recursive: true, force: true });
});

/** A host without bubblewrap that has these programs. */
async function hostWith(...programs: readonly string[]): Promise<void> {
  for (const name of programs) await symlink(`/usr/bin/${name}`, join(empty, name));
  host.directory = empty;
}

describe("createLinuxSandbox()", () => {
  it.each([...LINUX_SANDBOXES, "auto" as const])("makes %s", (name) => {
    expect(createLinuxSandbox(name as LinuxSandboxName).name).toBe(name);
  });

  it.each(["", "none", "toString", "__proto__"])("throws options_invalid for %j", (name) => {
    expect(() => createLinuxSandbox(name as LinuxSandboxName)).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });
});

describe("createLinuxSandbox() auto", () => {
  it.skipIf(!namespaces.run)(
    `starts the namespace sandbox where there is one ${namespaces.reason}`,
    async () => {
      const sandbox = createLinuxSandbox("auto");
      expect(await sandbox.probe()).toMatchObject({ sandbox: "namespace", level: "full" });
      const agent = await sandbox.spawn(["/bin/sh", "-c", "exit 3"], {
        ...nothing,
        requiredLevel: "full",
      });
      expect(agent.report.sandbox).toBe("namespace");
      expect(await agent.exited).toEqual({ code: 3, signal: undefined });
    },
  );

  it("falls back to landlock, but never below the required level, and never to env", async () => {
    await hostWith("cc", "as", "ld", "setpriv");
    const sandbox = createLinuxSandbox("auto");
    const { sandbox: name, isAvailable } = await sandbox.probe();
    for (const requiredLevel of ["full", "uid"] as const) {
      await expect(
        sandbox.spawn(["/bin/true"], { ...nothing, requiredLevel }),
      ).rejects.toMatchObject({
        code: "sandbox_unavailable",
        message: expect.stringMatching(/"namespace" .*"landlock" /u),
      });
    }
    if (!isAvailable) return; // a kernel without Landlock: there is nothing to fall back to
    expect(name).toBe("landlock");
    const agent = await sandbox.spawn(["/bin/true"], { ...nothing, requiredLevel: "none" });
    expect(agent.report).toMatchObject({ sandbox: "landlock", level: "partial" });
    await agent.close();
  });
});

describe("probeLinuxSandboxes()", () => {
  it("asks every backend, strongest first", async () => {
    const reports = await probeLinuxSandboxes();
    expect(reports.map(({ sandbox }) => sandbox)).toEqual(LINUX_SANDBOXES);
    expect(reports.find(({ sandbox }) => sandbox === "uid")).toMatchObject({ isAvailable: false });
    for (const { items } of reports)
      expect(new Set(items.map(({ aspect }) => aspect)).size).toBe(15);
  });
});
