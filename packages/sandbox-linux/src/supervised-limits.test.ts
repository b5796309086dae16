import { describe, expect, it } from "vitest";
import { limitOptions, limitsItem } from "./supervised-limits.js";

const caps = { processes: 10, openFiles: 20, memoryBytes: 30, scratchBytes: 40 };
const own = { uid: process.getuid?.() ?? 0, gid: 1, name: "own", home: "/" };
const other = { ...own, uid: own.uid + 1 };

describe("limitOptions()", () => {
  it("limits processes only where their count is not that of our own user", () => {
    expect(limitOptions(caps, own)).toEqual(["--files", "20"]);
    expect(limitOptions(caps, other)).toEqual(["--files", "20", "--processes", "10"]);
  });
});

describe("limitsItem()", () => {
  it("says what is limited and what is not, and never more than partial", () => {
    const reasonOf = (user: typeof own, groups?: { limitsProcesses: boolean; limitsMemory: boolean }): string => {
      const item = limitsItem({ caps, user, groups });
      expect(item.enforcement).toBe("partial");
      return item.reason;
    };
    expect(reasonOf(own)).toContain("processes are not limited, memory is not limited, the disk is not limited");
    expect(reasonOf(other)).toContain("10 processes, memory is not limited");
    expect(reasonOf(own, { limitsProcesses: true, limitsMemory: true })).toContain("10 processes, 30 bytes of memory");
  });
});
