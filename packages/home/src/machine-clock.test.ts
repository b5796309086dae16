import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { systemClock } from "@acp/core";
import { describe, expect, it } from "vitest";
import { machineClock, makeMachineClock } from "./machine-clock.js";

const isLinux = process.platform === "linux";

/** What another process reads, by the same calls. */
const inAnotherProcess = (): { readonly boot: string; readonly uptimeMs: number } => {
  const read = `({ boot: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(), uptimeMs: uptime() * 1000 })`;
  const program = `import { readFileSync } from "node:fs"; import { uptime } from "node:os"; console.log(JSON.stringify(${read}))`;
  return JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" }),
  );
};

const BOOT = "00000000-0000-4000-8000-000000000000";
const failing = (): never => {
  throw new Error("no /proc");
};

describe("machineClock", () => {
  it.runIf(isLinux)(
    "agrees with every process of the machine on the boot and on the time since it",
    () => {
      const before = machineClock.uptimeMs();
      const other = inAnotherProcess();
      expect(other.boot).toBe(machineClock.bootId());
      expect(other.uptimeMs).toBeGreaterThanOrEqual(before);
      expect(machineClock.uptimeMs()).toBeGreaterThanOrEqual(other.uptimeMs);
    },
  );

  it.runIf(isLinux)("counts the time since the boot, not since the start of the process", () => {
    const sinceBootMs = Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 1_000;
    expect(machineClock.uptimeMs()).toBeGreaterThanOrEqual(sinceBootMs);
    expect(machineClock.uptimeMs()).toBeLessThan(sinceBootMs + 60_000);
  });

  it.each([
    ["cannot be read", () => readFileSync(join(import.meta.dirname, "no-such-file"), "utf8")],
    ["is empty", () => "\n"],
    ["is no boot id", () => `${pathToFileURL(import.meta.dirname).href}\n`],
  ])("takes another process for another boot where the boot's name %s", (_why, read) => {
    const clock = makeMachineClock(read);
    expect(clock.bootId()).toBe(systemClock.bootId());
    expect(clock.uptimeMs()).toBeLessThanOrEqual(systemClock.uptimeMs());
  });

  it("never goes back", () => {
    const seconds = [5, 4, 6];
    const clock = makeMachineClock(
      () => BOOT,
      () => seconds.shift() ?? 0,
    );
    expect([clock.uptimeMs(), clock.uptimeMs(), clock.uptimeMs()]).toEqual([5_000, 5_000, 6_000]);
  });

  it("reads no number where there is none, and goes on afterwards", () => {
    const readings = [() => 5, () => Number.NaN, failing, () => 6];
    const clock = makeMachineClock(
      () => BOOT,
      () => (readings.shift() ?? failing)(),
    );
    expect([clock.uptimeMs(), clock.uptimeMs(), clock.uptimeMs(), clock.uptimeMs()]).toEqual([
      5_000,
      Number.NaN,
      Number.NaN,
      6_000,
    ]);
  });
});
