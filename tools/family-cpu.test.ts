import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { familyCpuMs } from "./family-cpu.mjs";

it.skipIf(!existsSync("/proc/self/stat"))(
  "familyCpuMs() counts this process and children that have ended, skipped: no /proc",
  () => {
    const before = familyCpuMs() ?? Number.NaN;
    const code =
      "const end = process.cpuUsage().user + 300_000; while (process.cpuUsage().user < end);";
    execFileSync(process.execPath, ["-e", code]);
    expect((familyCpuMs() ?? Number.NaN) - before).toBeGreaterThanOrEqual(300);
  },
);
