/**
 * Quarantine of a broken log: a stop after any of its steps leaves what the next --fix finishes, and
 * what came of it verifies.
 */
import { spawn } from "node:child_process";
import { mkdir, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readAuditLog, verifyAuditLog } from "@acp/audit";
import { logEvent, randomIds } from "@acp/core";
import { DEFAULT_AUDIT_CONFIG } from "@acp/home";
import { afterAll, describe, expect, it } from "vitest";
import { makePlan } from "../src/doctor/mend/quarantine-plan.js";
import { quarantineSteps } from "../src/doctor/mend/quarantine-log.js";
import { openHomeAudit } from "../src/logs/open-audit.js";
import { acp, BIN } from "./harness.js";
import {
  addEvents,
  codesOf,
  doctorWorld,
  edit,
  findingsOf,
  removeTemplate,
} from "./doctor-world.js";
import type { World } from "./doctor-world.js";

afterAll(removeTemplate);

const STEPS = 7;
const fault = { code: "not_json", message: "a line is bad", events: 3 };
const breakLog = ({ log }: World): Promise<void> =>
  edit(log, (text) => text.replace("sample 3", "\0\0\0\0\0\0\0\0"));

/** Everything that must hold once it is done, however it came about. */
async function expectFinished(world: World, broken: string): Promise<void> {
  const { home, log } = world;
  expect(findingsOf(await world.examine())).toEqual([]);
  expect(await readFile(join(home.dir, "quarantined/audit.jsonl.1/audit.jsonl"), "utf8")).toBe(
    broken,
  );
  const events = [];
  for await (const event of readAuditLog(log)) events.push(event);
  expect(events.map(({ eventType }) => eventType).slice(0, 2)).toEqual([
    "log_quarantined",
    "state_saved",
  ]);
  expect(events[0]?.metadata).toMatchObject({
    folder: "quarantined/audit.jsonl.1",
    files: [
      { name: "audit.jsonl", bytes: Buffer.byteLength(broken) },
      { name: "audit.jsonl.checkpoints" },
    ],
  });
  expect((await readFile(`${log}.seams`, "utf8")).split("\n")).toHaveLength(2);
  expect(await readdir(home.dir)).not.toContain("next-log");
  // Gates go on, in the same log.
  await addEvents(home, 2);
  expect(await verifyAuditLog(log)).toMatchObject({ ok: true, events: events.length + 2 });
  expect(findingsOf(await world.examine())).toEqual([]);
}

describe("quarantineLog()", () => {
  it.each(Array.from({ length: STEPS + 1 }, (_, at) => at))(
    "is finished by the next --fix when it stops after %i steps",
    async (count) => {
      const world = await doctorWorld();
      await breakLog(world);
      const broken = await readFile(world.log, "utf8");
      const steps = await quarantineSteps(world.home, await makePlan(world.home, world.log, fault));
      expect(steps).toHaveLength(STEPS);
      for (const step of steps.slice(0, count)) await step();
      const isHeld = count > 0 && count < STEPS - 1;
      if (isHeld)
        await expect(openHomeAudit(world.home)).rejects.toMatchObject({ code: "audit_failed" });
      if (count < STEPS) expect(codesOf(await world.examine())).toContain("quarantine_unfinished");
      const { mended } = await world.fix();
      expect(mended.filter((each) => !each.is_done)).toEqual([]);
      await expectFinished(world, broken);
    },
  );

  it("takes what a gate wrote after the plan, as long as the log was not held", async () => {
    const world = await doctorWorld();
    await breakLog(world);
    await makePlan(world.home, world.log, fault);
    const more = `${await readFile(world.log, "utf8")}oops\n`;
    await writeFile(world.log, more);
    await world.fix();
    await expectFinished(world, more);
  });

  it("sets a log aside a second time, under the next number", async () => {
    const world = await doctorWorld();
    for (const number of [1, 2]) {
      await edit(world.log, (text) => `${text}oops\n`);
      const { mended } = await world.fix();
      expect(mended).toMatchObject([{ code: "log_broken", is_done: true }]);
      expect(await readdir(join(world.home.dir, "quarantined"))).toHaveLength(number);
      expect(findingsOf(await world.examine())).toEqual([]);
    }
  });

  it("takes all files of a log along, and leaves what a witness keeps of it without effect", async () => {
    const world = await doctorWorld();
    const { home, log } = world;
    const witness = join(home.dir, "..", "witness");
    await mkdir(witness);
    const config = {
      ...DEFAULT_AUDIT_CONFIG,
      rotateBytes: 600,
      witnesses: [{ directory: witness }],
    };
    for (let count = 0; count < 6; count++) {
      await using audit = await openHomeAudit(home, { config });
      await audit.append([
        logEvent("gate_notice", { id: randomIds.next("ae"), atMs: Date.now() }, { notice: "n" }),
      ]);
    }
    const text = `version: "1"\naudit:\n  witnesses: [{ directory: ${witness} }]\n`;
    await writeFile(home.configPath, text, { mode: 0o600 });
    expect(findingsOf(await world.examine())).toEqual([]);
    const archives = (await readdir(home.dir)).filter((name) => /\.\d{12}$/.test(name));
    expect(archives.length).toBeGreaterThan(1);
    await edit(join(home.dir, archives[0] ?? ""), (old) => old.replace("sample 3", "simple 3"));
    expect(codesOf(await world.examine())).toEqual(["log_broken"]);
    await world.fix();
    expect(findingsOf(await world.examine())).toEqual([]);
    const aside = await readdir(join(home.dir, "quarantined/audit.jsonl.1"));
    expect(aside).toEqual(expect.arrayContaining(archives));
    // The witness gets the checkpoints of the new log beside those of the old one.
    {
      await using audit = await openHomeAudit(home, { config });
      await audit.append([
        logEvent("gate_notice", { id: randomIds.next("ae"), atMs: Date.now() }, { notice: "n" }),
      ]);
    }
    expect((await readdir(witness)).toSorted()).toEqual([
      expect.stringMatching(/audit\.jsonl\.2\.checkpoints$/),
      expect.stringMatching(/audit\.jsonl\.checkpoints$/),
    ]);
    const verified = await acp(["audit", "verify", "--json"], { home: home.dir });
    expect(JSON.parse(verified.stdout)).toMatchObject({
      ok: true,
      quarantined: [{ signed: true }],
    });
    // What the witness has of the new log still shows that its end is gone.
    await truncate(log);
    await rm(`${log}.checkpoints`);
    expect(codesOf(await world.examine())).toContain("log_end_missing");
  });

  it("leaves a log alone that a live process writes", async () => {
    const world = await doctorWorld();
    await using _audit = await openHomeAudit(world.home);
    await breakLog(world);
    const { mended } = await world.fix();
    expect(mended).toMatchObject([
      { is_done: false, text: expect.stringContaining("end it first") },
    ]);
  });

  it("keeps an older vault from being put back unseen", async () => {
    const world = await doctorWorld();
    await edit(world.log, (text) => `${text}oops\n`);
    await world.fix();
    const carried = [];
    for await (const event of readAuditLog(world.log, { filter: { eventType: "state_saved" } }))
      carried.push(event.metadata);
    expect(carried).toMatchObject([
      { file: "keys", counter: 1, carried_seq: 0 },
      { file: "vault", counter: 1, carried_seq: 1 },
    ]);
  });
});

describe("acp audit verify", () => {
  it("explains the log that was set aside and the one that began, and sees a change of either", async () => {
    const world = await doctorWorld();
    await breakLog(world);
    await world.fix();
    const verify = (): ReturnType<typeof acp> => acp(["audit", "verify"], { home: world.home.dir });
    const good = await verify();
    expect(good).toMatchObject({ code: 0, stderr: "" });
    expect(good.stdout).toMatch(/^ok .*audit\.jsonl: 3 events/);
    expect(good.stdout).toMatch(
      /quarantined quarantined\/audit\.jsonl\.1\/audit\.jsonl: .*; 4 events before it are good, head sha256:/,
    );
    const kept = join(world.home.dir, "quarantined/audit.jsonl.1/audit.jsonl");
    await edit(kept, (text) => text.replace("sample 5", "simple 5"));
    expect(await verify()).toMatchObject({
      code: 4,
      stdout: expect.stringMatching(/ {2}changed /),
    });
    expect(codesOf(await world.examine())).toEqual(["quarantine_changed"]);
    await rm(kept);
    expect(await verify()).toMatchObject({ code: 0, stdout: expect.stringMatching(/ {2}gone /) });
    expect(codesOf(await world.examine())).toEqual(["quarantine_gone"]);
    await edit(`${world.log}.seams`, (text) => text.replace("audit.jsonl.1", "audit.jsonl.7"));
    expect(await verify()).toMatchObject({
      code: 4,
      stdout: expect.stringMatching(/broken .*audit\.jsonl\.seams: the signature/),
    });
    expect(codesOf(await world.examine())).toContain("seam_broken");
  });
});

describe("acp doctor --fix", () => {
  it("that is killed at any moment leaves what the next one finishes", async () => {
    const delays = [250, 400, 500, 600, 700, 850];
    for (const delay of delays) {
      const world = await doctorWorld();
      await breakLog(world);
      const broken = await readFile(world.log, "utf8");
      const args = [BIN, "doctor", "--fix", "--yes", "--quick"];
      const child = spawn(process.execPath, args, {
        env: { ACP_HOME: world.home.dir, PATH: process.env["PATH"] },
        stdio: "ignore",
      });
      const timer = setTimeout(() => child.kill("SIGKILL"), delay);
      await new Promise((resolve) => child.on("close", resolve));
      clearTimeout(timer);
      await world.fix();
      await expectFinished(world, broken);
      expect((await stat(world.log)).nlink).toBe(1);
    }
  });
});
