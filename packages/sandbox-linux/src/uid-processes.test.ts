import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import type { AgentUser } from "./parts.js";
import { processesOf, refuseRunning } from "./uid-processes.js";

const user = (uid: number): AgentUser => ({ uid, gid: uid, name: `user${uid}`, home: "/" });

describe("processesOf()", () => {
  it("finds this process among those of its user, and none of a uid that nobody has", () => {
    expect(processesOf(process.getuid?.() ?? 0)).toContain(process.pid);
    expect(processesOf(61_097)).toEqual([]);
  });
});

describe("refuseRunning()", () => {
  it("lets pass a user of whom nothing runs", async () => {
    await expect(refuseRunning(user(61_097))).resolves.toBeUndefined();
  });

  it("refuses one of whom something runs, and says what", async () => {
    const refusal = expect.objectContaining({
      code: "sandbox_unavailable",
      message: expect.stringMatching(/run already \(\d+/u),
    });
    await expect(refuseRunning(user(process.getuid?.() ?? 0), 1)).rejects.toEqual(refusal);
  });

  it.runIf(process.getuid?.() === 0)(
    "waits for what is about to go (it needs another user: as root only)",
    async () => {
      const uid = 61_050 + (process.pid % 40);
      const child = spawn(
        "setpriv",
        ["--reuid", String(uid), "--clear-groups", "--", "sleep", "1000"],
        { stdio: "ignore" },
      );
      while (processesOf(uid).length === 0) await new Promise((resolve) => setImmediate(resolve));
      const refused = refuseRunning(user(uid), 3000);
      child.kill("SIGKILL");
      await once(child, "exit");
      await expect(refused).resolves.toBeUndefined();
    },
  );
});
