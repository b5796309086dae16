/** Places of the host that are made to lead elsewhere while an agent starts, and what of the host can be recognised inside. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { chmod, chown, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isConsentError } from "@acp/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ConfinementOptions } from "../src/parts.js";
import { initHelper } from "../src/native-helper.js";
import { createNamespaceSandbox } from "../src/namespace.js";
import { namespaces, PATH, runShell, textOf } from "./namespace-kit.js";

const EXCHANGE = fileURLToPath(new URL("fixtures/exchange.py", import.meta.url));
const isRoot = process.getuid?.() === 0;
const AGENT_UID = 61_009;
const user = isRoot ? { user: AGENT_UID } : {};
/** Seen once in 12 where nothing looked: enough that luck is no explanation. Most attempts end at the first look, which finds a link. */
const STARTS = process.env["ACP_DEEP"] === "1" ? 300 : 24;
const ATTEMPTS_MAX = 100 * STARTS;

let scratch: string;
const running: ChildProcess[] = [];
beforeEach(async () => {
  scratch = await realpath(await mkdtemp(join(tmpdir(), "acp-places-")));
  await chmod(scratch, 0o755);
});
afterEach(async () => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
  await rm(scratch, { recursive: true, force: true });
});

/** A home with a key, and a folder that takes turns with a link to it. */
async function makeTurns(name: string): Promise<{ readonly home: string; readonly folder: string }> {
  const [home, folder, link] = ["home", name, "link"].map((each) => join(scratch, each));
  if (home === undefined || folder === undefined || link === undefined) throw new Error("there are three names");
  for (const path of [home, folder]) mkdirSync(path);
  writeFileSync(join(home, "key"), "the key");
  symlinkSync(home, link);
  if (isRoot) for (const path of [home, folder, join(home, "key")]) await chown(path, AGENT_UID, AGENT_UID);
  const child = spawn("python3", [EXCHANGE, folder, link], { stdio: ["ignore", "pipe", "inherit"] });
  running.push(child);
  await once(child.stdout ?? child, "data");
  return { home, folder };
}

/** Tries to start, again and again, and says how often that worked and everything that was printed inside. */
async function startMany(options: ConfinementOptions, script: string): Promise<{ readonly started: number; readonly output: string }> {
  const sandbox = createNamespaceSandbox(options);
  let [started, output] = [0, ""];
  for (let attempt = 0; started < STARTS && attempt < ATTEMPTS_MAX; attempt++) {
    try {
      const agent = await sandbox.spawn(["/bin/sh", "-c", script], {
        onConnection: (socket) => socket.destroy(),
        env: () => ({ PATH }),
        cwd: "/",
        stdio: "pipe",
      });
      agent.stdin?.end();
      output += await textOf(agent);
      await agent.exited;
      started++;
    } catch (error) {
      if (!isConsentError(error) || !["options_invalid", "sandbox_failed"].includes(error.code)) throw error;
    }
  }
  return { started, output };
}

describe.skipIf(!namespaces.run)(`places of the namespace sandbox ${namespaces.reason}`, () => {
  it("never shows what a folder is exchanged for while it starts", { timeout: 300_000 }, async () => {
    const { home, folder } = await makeTurns("folder");
    const places: ConfinementOptions = { ...user, hidden: [home], workspace: { path: folder, access: "read-write" } };
    const { started, output } = await startMany(places, `(ls -A ${folder}; cat ${folder}/key; ls -A ${home}; cat ${home}/key) 2>/dev/null`);
    expect(output).toBe("");
    expect(started).toBe(STARTS);
  });

  it("shows neither what the kernel was started with nor which start of the machine this is", async () => {
    const files = ["/proc/cmdline", "/proc/sys/kernel/random/boot_id"];
    const { output } = await runShell(files.map((path) => `cat ${path}; echo end`).join("; "), user);
    for (const path of files) expect(output).not.toContain(readFileSync(path, "utf8").trim());
    expect(output).toMatch(/^\nend\n[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\nend\n$/u);
  });

  it.each([true, false])("starts again for an agent that closed its own workspace, with a first process of ours: %s", async (hasInit) => {
    const workspace = join(scratch, "workspace");
    mkdirSync(workspace);
    if (isRoot) await chown(workspace, AGENT_UID, AGENT_UID);
    const missing = { isAvailable: false, reason: "none", fix: "none" } as const;
    const options: ConfinementOptions = { ...user, workspace: { path: workspace, access: "read-write" } };
    const sandbox = createNamespaceSandbox(options, () => (hasInit ? initHelper() : Promise.resolve(missing)));
    for (const turn of ["first", "second"]) {
      const agent = await sandbox.spawn(["/bin/sh", "-c", `echo ${turn} > note; cat note; chmod 000 .`], {
        onConnection: (socket) => socket.destroy(),
        env: () => ({ PATH }),
        stdio: "pipe",
      });
      expect(await textOf(agent)).toBe(`${turn}\n`);
      expect(await agent.exited).toEqual({ code: 0, signal: undefined });
    }
    await chmod(workspace, 0o755);
  });
});
