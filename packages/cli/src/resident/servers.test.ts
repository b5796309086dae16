import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openServers } from "./servers.js";

const run = (): string => {
  const directory = mkdtempSync(join(tmpdir(), "acp-servers-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
};
const filesOf = (directory: string): readonly string[] => readdirSync(join(directory, "servers"));

/** A process that leads a group and ends by nothing but a kill. */
function stubborn(): { readonly child: ChildProcess; readonly ended: Promise<unknown> } {
  const child = spawn("/bin/sleep", ["600"], { detached: true, stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  return {
    child,
    ended: new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal))),
  };
}

describe.skipIf(process.platform !== "linux")("openServers() (needs /proc)", () => {
  it("kills what an earlier resident left, before it resolves", async () => {
    const directory = run();
    const { child, ended } = stubborn();
    (await openServers(directory)).note(child.pid ?? 0);
    expect(filesOf(directory)).toEqual([String(child.pid)]);
    await openServers(directory);
    expect(await ended).toBe("SIGKILL");
    expect(filesOf(directory)).toEqual([]);
  });

  it("leaves a process alone that got the number later, or is of another boot", async () => {
    const directory = run();
    const { child } = stubborn();
    const path = join(directory, "servers", String(child.pid));
    (await openServers(directory)).note(child.pid ?? 0);
    const [boot, start] = readFileSync(path, "utf8").split(" ");
    for (const noted of [`${boot} ${Number(start) + 1}`, `other ${start}`, ""]) {
      writeFileSync(path, noted);
      await openServers(directory);
      expect(filesOf(directory)).toEqual([]);
      expect(child.exitCode ?? child.signalCode).toBeNull();
    }
  });

  it("forgets a server that has ended", async () => {
    const directory = run();
    const { child, ended } = stubborn();
    const forget = (await openServers(directory)).note(child.pid ?? 0);
    child.kill("SIGKILL");
    await ended;
    forget();
    expect(filesOf(directory)).toEqual([]);
  });
});
