/**
 * `acp run` that is killed while its agent runs: gate, proxies and agent are gone at once, with
 * what the agent left behind; the next one starts as if nothing had been, and the log is whole.
 */
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { verifyAuditLog } from "@acp/audit";
import { needSandbox, runWorld } from "./run-world.js";

/** Processes whose command line holds a text. */
function naming(text: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        return command.includes(text) ? [command] : [];
      } catch {
        return [];
      }
    });
}

/** Stays, and leaves one behind that nobody waits for. The number says whose they are. */
const agent = (mark: string): readonly string[] => [
  "sh",
  "-c",
  `trap "" TERM HUP; (setsid sh -c 'trap "" TERM HUP; sleep ${mark}; sleep ${mark}' &) >/dev/null 2>&1 </dev/null; echo up; sleep ${mark}`,
];

describe.each(["namespace", "landlock", "env"])(
  "acp run --sandbox %s that is killed",
  (sandbox) => {
    it("leaves nothing running, and the next one starts", async ({ skip }) => {
      const { run, reason } = needSandbox(sandbox);
      if (!run) skip(reason);
      await using world = await runWorld();
      const mark = `86400.${process.pid}${Date.now()}`;
      const running = world.start(agent(mark), { args: ["--sandbox", sandbox] });
      await running.seen("stdout", "up");
      await expect.poll(() => naming(mark).length).toBeGreaterThan(2);
      const ended = once(running.child, "exit");
      running.child.kill("SIGKILL");
      await ended;
      await expect.poll(() => naming(mark)).toEqual([]);
      expect(
        await world.run(["sh", "-c", "exit 7"], { args: ["--sandbox", sandbox] }),
      ).toMatchObject({ code: 7 });
      expect(await verifyAuditLog(join(world.home, "audit.jsonl"))).toMatchObject({ ok: true });
    });
  },
);
