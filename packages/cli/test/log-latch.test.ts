/** A fault in a log ends its use, for every gate, until a person sets the log aside. */
import { existsSync } from "node:fs";
import { readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openAuditLog, verifyAuditLog } from "@acp/audit";
import type { BadLine } from "@acp/audit";
import { logEvent } from "@acp/core";
import { checkpointKeyPath } from "@acp/home";
import type { HomePaths } from "@acp/home";
import { afterAll, describe, expect, it } from "vitest";
import { recoverOtherLogs } from "../src/gate/other-logs.js";
import { patrolLogs } from "../src/gate/patrol-log.js";
import { readIndexKey } from "../src/logs/index-key.js";
import { faultPath, latchLog } from "../src/logs/log-latch.js";
import { openHomeAudit } from "../src/logs/open-audit.js";
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

describe("patrolLogs()", () => {
  const DAY_MS = 86_400_000;

  /** A home with an indexed log of several files, and the names of its full ones. */
  async function fullLog(
    log: string,
    home: HomePaths,
  ): Promise<{ readonly path: string; readonly names: readonly string[] }> {
    const path = join(home.dir, log);
    const indexKey = await readIndexKey(home);
    await using audit = await openAuditLog({
      path,
      rotation: { maxBytes: 2_000 },
      ...(indexKey !== undefined && { indexKey }),
    });
    for (let number = 0; number < 20; number++)
      await audit.append([{ ...event, metadata: { notice: "sample", text: `sample ${number}` } }]);
    const names = (await readdir(home.dir)).filter((name) => name.startsWith(`${log}.0`)).sort();
    return { path, names };
  }

  /** Patrols as long as `days` has one more day at which the round takes place. */
  async function patrol(
    home: HomePaths,
    days: readonly number[],
    between: (round: number) => Promise<void> = () => Promise.resolve(),
  ): Promise<readonly (readonly [string, BadLine])[]> {
    const found: (readonly [string, BadLine])[] = [];
    const startMs = Date.now();
    let round = 0;
    let end = (): void => {};
    const isOver = new Promise<void>((resolve) => {
      end = resolve;
    });
    const patrolling = patrolLogs({
      home,
      own: join(home.dir, "audit.jsonl"),
      async onFault(path, bad) {
        found.push([path, bad]);
        await latchLog(path, bad, startMs);
      },
      now: () => startMs + (days[round - 1] ?? 0) * DAY_MS,
      async wait(ms, signal) {
        if (ms < 60_000) return;
        await between(round++);
        if (round <= days.length) return;
        end();
        await new Promise((_resolve, reject) => signal?.addEventListener("abort", reject));
      },
    });
    await isOver;
    await patrolling[Symbol.asyncDispose]();
    return found;
  }

  it("finds damage in any log of the home, once, latches that log, and finds none in a whole one", async () => {
    const { home } = await doctorWorld();
    await fullLog("audit.jsonl", home);
    const { path, names } = await fullLog("audit.2.jsonl", home);
    expect(names.length).toBeGreaterThan(2);
    expect(await patrol(home, [0, 31, 62])).toEqual([]);
    const [, second = ""] = names;
    const file = join(home.dir, second);
    const text = await readFile(file, "utf8");
    const found = await patrol(home, [93, 124, 155], async (round) => {
      if (round === 1) await writeFile(file, text.replace("sample", "Sample"));
    });
    const bad = expect.objectContaining({ file: second, code: "hash_mismatch" });
    expect(found).toEqual([[path, bad]]);
    expect(await readFile(faultPath(path), "utf8")).toContain("hash_mismatch");
    await expect(readFile(faultPath(join(home.dir, "audit.jsonl")))).rejects.toThrow("ENOENT");
  });

  it("reads all of a log without an index, once in 30 days of one process", async () => {
    const { home } = await doctorWorld();
    await rm(checkpointKeyPath(home));
    const { path, names } = await fullLog("audit.2.jsonl", home);
    expect(await readIndexKey(home)).toBeUndefined();
    const file = join(home.dir, names[1] ?? "");
    const text = await readFile(file, "utf8");
    const found = await patrol(home, [0, 10, 20, 31, 62], async (round) => {
      if (round === 1) await writeFile(file, text.replace("sample", "Sample"));
      if (round === 3) expect(existsSync(faultPath(path))).toBe(false);
    });
    expect(found).toMatchObject([[path, { file: names[1], code: "hash_mismatch" }]]);
  });

  it("goes round once however many gates of a home there are, and tells the one that writes the log", async () => {
    const { home } = await doctorWorld();
    const { path, names } = await fullLog("audit.2.jsonl", home);
    const file = join(home.dir, names[1] ?? "");
    await writeFile(file, (await readFile(file, "utf8")).replace("sample", "Sample"));
    const told: string[] = [];
    let rounds = 0;
    let [tell, end] = [(): void => {}, (): void => {}];
    const isTold = new Promise<void>((resolve) => (tell = resolve));
    const isOver = new Promise<void>((resolve) => (end = resolve));
    const gate = (own: string): AsyncDisposable =>
      patrolLogs({
        home,
        own,
        async onFault(at) {
          told.push(own);
          await latchLog(at, { line: 1, code: "hash_mismatch", message: "x" }, SAMPLE_MS);
          tell();
        },
        now: () => Date.now() + 31 * DAY_MS,
        async wait(ms, signal) {
          if (ms < 60_000) return;
          rounds += 1;
          if (rounds === 1) return;
          if (rounds === 2) end();
          await new Promise((_resolve, reject) => signal?.addEventListener("abort", reject));
        },
      });
    const first = gate(join(home.dir, "audit.jsonl"));
    const second = gate(path);
    await isTold;
    await isOver;
    // It goes on for those who stay.
    await first[Symbol.asyncDispose]();
    expect([told, rounds]).toEqual([[path], 2]);
    await second[Symbol.asyncDispose]();
  });

  it("goes on where a file is removed or only touched", async () => {
    const { home } = await doctorWorld();
    const { names } = await fullLog("audit.jsonl", home);
    const [first = "", second = ""] = names;
    const found = await patrol(home, [31, 62, 93], async (round) => {
      if (round === 1) await utimes(join(home.dir, second), 5, 5);
      if (round === 2) await rm(join(home.dir, first));
    });
    expect(found).toEqual([]);
  });
});
