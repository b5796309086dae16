/**
 * Places of the host that are made to lead elsewhere while an agent starts, and what of the host
 * can be recognised inside.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { chmod, chown, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ConfinementOptions } from "../src/parts.js";
import { initHelper } from "../src/native-helper.js";
import { createNamespaceSandbox } from "../src/namespace.js";
import { lookFor, makeTurns, STARTS, startMany } from "./exchange-kit.js";
import { namespaces, PATH, runShell, textOf } from "./namespace-kit.js";

const isRoot = process.getuid?.() === 0;
const AGENT_UID = 61_009;
const user = isRoot ? { user: AGENT_UID } : {};
let scratch: string;
beforeEach(async () => {
  scratch = await realpath(await mkdtemp(join(tmpdir(), "acp-places-")));
  await chmod(scratch, 0o755);
});
afterEach(async () => {
  await rm(scratch, { recursive: true, force: true });
});

describe.skipIf(!namespaces.run)(`places of the namespace sandbox ${namespaces.reason}`, () => {
  it("never shows what a folder is exchanged for while it starts", {
    timeout: 900_000,
  }, async () => {
    using turns = await makeTurns(scratch, isRoot ? AGENT_UID : undefined);
    const sandbox = createNamespaceSandbox({
      ...user,
      hidden: [turns.home],
      workspace: { path: turns.folder, access: "read-write" },
    });
    expect(await startMany(sandbox, lookFor(turns))).toEqual({ started: STARTS, output: "" });
  });

  it("shows neither what the kernel was started with nor which start of the machine this is", async () => {
    const files = ["/proc/cmdline", "/proc/sys/kernel/random/boot_id"];
    const { output } = await runShell(
      files.map((path) => `cat ${path}; echo end`).join("; "),
      user,
    );
    for (const path of files) expect(output).not.toContain(readFileSync(path, "utf8").trim());
    expect(output).toMatch(/^\nend\n[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\nend\n$/u);
  });

  it.each([true, false])(
    "starts again for an agent that closed its own workspace, with a first process of ours: %s",
    async (hasInit) => {
      const workspace = join(scratch, "workspace");
      mkdirSync(workspace);
      if (isRoot) await chown(workspace, AGENT_UID, AGENT_UID);
      const missing = { isAvailable: false, reason: "none", fix: "none" } as const;
      const options: ConfinementOptions = {
        ...user,
        workspace: { path: workspace, access: "read-write" },
      };
      const sandbox = createNamespaceSandbox(options, () =>
        hasInit ? initHelper() : Promise.resolve(missing),
      );
      for (const turn of ["first", "second"]) {
        const agent = await sandbox.spawn(
          ["/bin/sh", "-c", `echo ${turn} > note; cat note; chmod 000 .`],
          {
            onConnection: (socket) => socket.destroy(),
            env: () => ({ PATH }),
            stdio: "pipe",
          },
        );
        expect(await textOf(agent)).toBe(`${turn}\n`);
        expect(await agent.exited).toEqual({ code: 0, signal: undefined });
      }
      await chmod(workspace, 0o755);
    },
  );
});
