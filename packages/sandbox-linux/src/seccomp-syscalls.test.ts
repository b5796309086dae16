/** Numbers against the kernel's headers where a compiler has installed them. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { SeccompArch, SyscallNumbers } from "./seccomp-syscalls.js";
import {
  EXAMINED_SYSCALLS,
  FIRST_UNKNOWN_SYSCALL,
  MEETING_SYSCALLS,
  MISSING_SYSCALLS,
  REFUSED_SYSCALLS,
  syscallNumbers,
} from "./seccomp-syscalls.js";

const tables: Readonly<Record<string, SyscallNumbers>> = {
  ...EXAMINED_SYSCALLS,
  ...MEETING_SYSCALLS,
  ...MISSING_SYSCALLS,
  ...REFUSED_SYSCALLS,
};
const headers: readonly (readonly [SeccompArch, string])[] = [
  [
    "x64",
    ["/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"].find((path) =>
      existsSync(path),
    ) ?? "",
  ],
  ["arm64", "/usr/include/asm-generic/unistd.h"],
];

describe("syscallNumbers()", () => {
  it.each(["x64", "arm64"] as const)("gives each number once: %s", (arch) => {
    const numbers = syscallNumbers(tables, arch);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(Math.max(...numbers)).toBeLessThan(FIRST_UNKNOWN_SYSCALL);
  });

  it("leaves out what an architecture does not have", () => {
    expect(syscallNumbers(tables, "x64").length - syscallNumbers(tables, "arm64").length).toBe(6);
  });

  describe.each(headers)("%s", (arch, path) => {
    const isThere = existsSync(path);
    it.runIf(isThere)(
      isThere
        ? "has the numbers of the installed header"
        : "skipped: the kernel's headers are not installed",
      () => {
        const text = readFileSync(path, "utf8");
        const known = new Map(
          [...text.matchAll(/^#define __NR(?:3264)?_(\w+)\s+(\d+)$/gm)].map(
            ([, name = "", number]) => [name, Number(number)],
          ),
        );
        expect(known.size).toBeGreaterThan(250);
        const newest = Math.max(...known.values());
        for (const [name, numbers] of Object.entries(tables)) {
          const number = numbers[arch === "x64" ? 0 : 1];
          // A header that is older than a call cannot confirm it.
          if (number === undefined || number <= newest)
            expect([name, known.get(name)]).toEqual([name, number]);
        }
      },
    );
  });
});
