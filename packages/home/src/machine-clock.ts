/**
 * Machine clock: the system's clock, with the boot that every process of the machine agrees on. On
 * Linux the kernel names the boot, and the uptime counts suspended time (CLOCK_BOOTTIME). Elsewhere
 * another process counts as another boot, as with core's own clock.
 */
import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import { type Clock, systemClock } from "@acp/core";

const BOOT_ID_PATH = "/proc/sys/kernel/random/boot_id";
const BOOT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The system's clock, on which every gate of the machine agrees across restarts. On Linux its boot
 * ID and uptime come from the kernel.
 */
export const machineClock: Clock = makeMachineClock(() => readFileSync(BOOT_ID_PATH, "utf8"));

/** {@link machineClock} over other ways to read the boot's name, and the seconds since it. */
export function makeMachineClock(
  readBootId: () => string,
  readUptime: () => number = uptime,
): Clock {
  let bootId: string | undefined;
  let lastMs = 0;
  // Read on first use: most programs that load this package ask for no boot.
  const boot = (): string => (bootId ??= readBoot(readBootId));
  return Object.freeze({
    ...systemClock,
    bootId: boot,
    uptimeMs() {
      if (boot() === systemClock.bootId()) return systemClock.uptimeMs();
      // On Linux Node reads /proc/uptime, which counts from the boot and through suspends, in
      // hundredths of a second.
      const nowMs = uptimeMsOf(readUptime);
      // A reading that is no number ends what it is asked about, and nothing later.
      if (nowMs > lastMs) lastMs = nowMs;
      return Number.isNaN(nowMs) ? nowMs : lastMs;
    },
  });
}

function uptimeMsOf(read: () => number): number {
  try {
    return read() * 1_000;
  } catch {
    return Number.NaN;
  }
}

function readBoot(read: () => string): string {
  try {
    const text = read().trim();
    return BOOT_ID.test(text) ? text : systemClock.bootId();
  } catch {
    return systemClock.bootId();
  }
}
