import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs/promises";
import { describe, expect, it, vi } from "vitest";
import { endSession } from "./session.js";

// Only what the system refuses is played; the processes are real.
vi.mock("node:fs/promises", { spy: true });

function refusal(code: string): Error {
  return Object.assign(new Error(code), { code });
}

async function startSession(): Promise<{
  readonly child: ChildProcess;
  readonly pid: number;
  readonly over: Promise<unknown>;
}> {
  const child = spawn("/bin/sleep", ["1000"], { detached: true, stdio: "ignore" });
  const over = once(child, "exit");
  await once(child, "spawn");
  return { child, pid: child.pid ?? 0, over };
}

describe("endSession()", () => {
  it.each([
    ["nothing is refused", () => undefined],
    ["/proc cannot be read", () => vi.mocked(fs.readdir).mockRejectedValue(refusal("EMFILE"))],
    [
      "a process cannot be looked at",
      () => vi.mocked(fs.readFile).mockRejectedValue(refusal("EMFILE")),
    ],
  ])("endSession() ends the session's leader and says so where %s", async (_what, refuse) => {
    const { child, pid, over } = await startSession();
    refuse();
    try {
      expect(await endSession(pid)).toBe(true);
      await over;
      expect(child.signalCode).toBe("SIGTERM");
    } finally {
      vi.mocked(fs.readdir).mockRestore();
      vi.mocked(fs.readFile).mockRestore();
      child.kill("SIGKILL");
    }
  });
});
