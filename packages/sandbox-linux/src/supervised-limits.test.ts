import { describe, expect, it } from "vitest";
import { limitOptions, limitsItem } from "./supervised-limits.js";

const caps = { processes: 10, openFiles: 20, memoryBytes: 30, scratchBytes: 40 };

describe("limitOptions()", () => {
  it("adds the limit of processes to what the user has already, since the kernel counts that too", () => {
    const idle = { uid: 61_043, gid: 61_043, name: "idle", home: "/" };
    expect(limitOptions(caps, idle)).toEqual(["--files", "20", "--processes", "10"]);
    const processes = Number(limitOptions(caps, { ...idle, uid: process.getuid?.() ?? 0 }).at(-1));
    expect(processes).toBeGreaterThan(10); // this process at least
  });
});

describe("limitsItem()", () => {
  it("says what is limited and what is not, and never more than partial", () => {
    const reasonOf = (groups?: { limitsProcesses: boolean; limitsMemory: boolean }): string => {
      const item = limitsItem({ caps, groups });
      expect(item.enforcement).toBe("partial");
      return item.reason;
    };
    expect(reasonOf()).toContain(
      "10 processes more than its user had at the start, memory is not limited, the disk is not limited",
    );
    expect(reasonOf({ limitsProcesses: true, limitsMemory: true })).toContain(
      "10 processes, 30 bytes of memory",
    );
  });
});
