/** A fault in a log ends its use, for every gate, until a person sets the log aside. */
import { readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openAuditLog, verifyAuditLog } from "@acp/audit";
import type { BadLine } from "@acp/audit";
import { logEvent } from "@acp/core";
import { afterAll, describe, expect, it } from "vitest";
import { recoverOtherLogs } from "../src/gate/other-logs.js";
import { patrolLog } from "../src/gate/patrol-log.js";
import { faultPath } from "../src/logs/log-latch.js";
import { openHomeAudit } from "../src/logs/open-audit.js";
import { folder } from "./backup-world.js";
import { addEvents, codesOf, doctorWorld, poke, removeTemplate } from "./doctor-world.js";
import { SAMPLE_MS } from "./sample-event.js";

afterAll(removeTemplate);

const event = logEvent(
  "gate_notice",
  { id: "ae_x", atMs: SAMPLE_MS },
  { notice: "sample", text: "sample" },
);

describe("a log that is damaged while a gate has it open", () => {
  it("takes no event of this gate or another, until acp doctor --fix sets it aside", async () => {
    const world = await doctorWorld();
    const { home, log } = world;
    const text = await readFile(log, "latin1");
    {
      await using audit = await openHomeAudit(home);
      await poke(log);
      const first = await audit.append([event]).catch((error: unknown) => error);
      expect(first).toMatchObject({
        code: "audit_failed",
        message: expect.stringMatching(/line \d+: .*\(hash_mismatch\); run: acp doctor --fix$/),
      });
      await expect(audit.append([event])).rejects.toThrow("acp doctor --fix");
    }
    // Nobody steps around it to another name, and nothing is added to it.
    await expect(openHomeAudit(home)).rejects.toThrow("run: acp doctor --fix");
    const errors: string[] = [];
    await recoverOtherLogs({
      home,
      own: join(home.dir, "audit.2.jsonl"),
      recover: { pendingIds: new Set() },
      optionsOf: (path) => ({ path }),
      onEnded: () => {},
      onError: (_path, message) => errors.push(message),
    });
    expect(errors).toEqual([expect.stringContaining("acp doctor --fix")]);
    expect((await readFile(log, "latin1")).length).toBe(text.length);
    expect(codesOf(await world.examine())).toContain("log_broken");
    const { all, mended } = await world.fix();
    expect([codesOf(all), mended.map(({ code }) => code)]).toEqual([[], ["log_broken"]]);
    await addEvents(home, 1);
    expect(await readdir(home.dir)).not.toContain("audit.jsonl.fault");
  });

  it("may go on where it was put back as it was, if a person says so who looked at all of it", async () => {
    const world = await doctorWorld();
    const { home, log } = world;
    const text = await readFile(log, "latin1");
    {
      await using audit = await openHomeAudit(home);
      await poke(log);
      await expect(audit.append([event])).rejects.toThrow("hash_mismatch");
      await writeFile(log, text, "latin1");
    }
    await expect(openHomeAudit(home)).rejects.toThrow("acp doctor --fix");
    const quick = await world.fix({ isQuick: true }, "log_latched");
    expect([codesOf(quick.all), quick.mended]).toEqual([["log_latched"], []]);
    expect((await world.fix({}, "log_latched")).mended).toMatchObject([{ is_done: true }]);
    await addEvents(home, 1);
    expect(await verifyAuditLog(log)).toMatchObject({ ok: true });
  });

  it("stays closed where what says so cannot be read", async () => {
    const { home, log } = await doctorWorld();
    await writeFile(faultPath(log), "", { mode: 0o600 });
    await expect(openHomeAudit(home)).rejects.toThrow("cannot be read");
  });
});

describe("patrolLog()", () => {
  /** Full files, with one that a person damaged. */
  async function fullLog(): Promise<{ readonly path: string; readonly names: readonly string[] }> {
    const at = await folder();
    const path = join(at, "audit.jsonl");
    await using log = await openAuditLog({ path, rotation: { maxBytes: 2_000 } });
    for (let number = 0; number < 20; number++)
      await log.append([{ ...event, metadata: { notice: "sample", text: `sample ${number}` } }]);
    const names = (await readdir(at)).filter((name) => /\.\d{12}$/.test(name)).sort();
    return { path, names };
  }

  /** Patrols some rounds; between them, time passes at once. */
  async function patrol(
    path: string,
    rounds: number,
    between: (round: number) => Promise<void> = () => Promise.resolve(),
  ): Promise<readonly BadLine[]> {
    const found: BadLine[] = [];
    let round = 0;
    let end = (): void => {};
    const isOver = new Promise<void>((resolve) => {
      end = resolve;
    });
    const patrolling = patrolLog({
      path,
      onFault: (bad) => Promise.resolve(void found.push(bad)),
      async wait(ms, signal) {
        if (ms >= 600_000) await between(round++);
        if (round <= rounds) return;
        end();
        await new Promise((_resolve, reject) => signal.addEventListener("abort", reject));
      },
    });
    await isOver;
    await patrolling[Symbol.asyncDispose]();
    return found;
  }

  it("finds damage to a full file, once, and nothing in a log that is whole", async () => {
    const { path, names } = await fullLog();
    expect(names.length).toBeGreaterThan(2);
    expect(await patrol(path, 2)).toEqual([]);
    const [, second = ""] = names;
    const file = join(path, "..", second);
    const text = await readFile(file, "utf8");
    const found = await patrol(path, 3, async (round) => {
      if (round === 1) await writeFile(file, text.replace("sample", "Sample"));
    });
    expect(found).toEqual([expect.objectContaining({ file: second, code: "hash_mismatch" })]);
  });

  it("goes on where a file is removed or only touched", async () => {
    const { path, names } = await fullLog();
    const [first = "", second = ""] = names;
    const found = await patrol(path, 3, async (round) => {
      if (round === 1) await utimes(join(path, "..", second), 5, 5);
      if (round === 2) await rm(join(path, "..", first));
    });
    expect(found).toEqual([]);
  });
});
