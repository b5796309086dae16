import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  capsItem,
  DEFAULT_CAPS,
  groupParents,
  parseCaps,
  removeCgroup,
  rlimitCommand,
  rlimitsOf,
} from "./resource-caps.js";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "acp-caps-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe("parseCaps()", () => {
  it("takes the defaults for what is left out", () => {
    expect(parseCaps()).toEqual(DEFAULT_CAPS);
    expect(parseCaps({ processes: 7 })).toEqual({ ...DEFAULT_CAPS, processes: 7 });
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60])(
    "throws options_invalid for %s",
    (value) => {
      for (const name of ["processes", "memoryBytes", "scratchBytes", "openFiles"] as const) {
        expect(() => parseCaps({ [name]: value })).toThrow(
          expect.objectContaining({ code: "options_invalid" }),
        );
      }
    },
  );
});

describe("rlimitCommand()", () => {
  it("starts a command below the limits, and never asks for more than there is", async () => {
    const [program = "", ...args] = rlimitCommand({ ...DEFAULT_CAPS, openFiles: 99 });
    const child = spawn(program, [...args, "/bin/sh", "-c", "ulimit -n; ulimit -c"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.on("data", (chunk) => (text += String(chunk)));
    await once(child, "close");
    expect(text).toBe("99\n0\n");
    const most = rlimitCommand({ ...DEFAULT_CAPS, openFiles: 2 ** 40, processes: 2 ** 40 });
    const greedy = spawn(most[0] ?? "", [...most.slice(1), "/bin/true"], { stdio: "inherit" });
    expect(await once(greedy, "exit")).toEqual([0, null]);
  });
});

describe("rlimitsOf()", () => {
  it("has the memory of each process only where no group has that of all, and only where it was asked for", () => {
    const caps = { ...DEFAULT_CAPS, memoryBytes: 2 ** 30, processMemoryBytes: 2 ** 30 };
    expect(rlimitsOf(caps, { limitsMemory: false })).toEqual(caps);
    expect(rlimitsOf(caps, { limitsMemory: true })).toEqual({
      ...DEFAULT_CAPS,
      memoryBytes: 2 ** 30,
    });
    expect(rlimitCommand(rlimitsOf(caps, { limitsMemory: false })).join(" ")).toContain(
      `--data=${2 ** 30}`,
    );
    for (const each of [rlimitsOf(caps, { limitsMemory: true }), DEFAULT_CAPS])
      expect(rlimitCommand(each).join(" ")).not.toContain("--data");
  });
});

describe("groupParents()", () => {
  it("finds the hierarchies of version 1 that limit processes or memory", async () => {
    for (const path of ["pids/a/b", "memory", "cpu,cpuacct/a"])
      await mkdir(join(root, path), { recursive: true });
    const membership = "9:name=systemd:/a\n8:pids:/a/b\n4:memory:/\n2:cpu,cpuacct:/a\n0::/\n";
    expect(groupParents(membership, root)).toEqual([join(root, "pids/a/b"), join(root, "memory")]);
  });

  it("finds what of version 2 passes on controllers: our own group, or the one above", async () => {
    await mkdir(join(root, "user/app/ours"), { recursive: true });
    await writeFile(join(root, "user/app/cgroup.subtree_control"), "cpu memory pids\n");
    await writeFile(join(root, "user/app/ours/cgroup.subtree_control"), "\n");
    expect(groupParents("0::/user/app/ours\n", root)).toEqual([join(root, "user/app")]);
    expect(groupParents("0::/user/app\n", root)).toEqual([join(root, "user/app")]);
    expect(groupParents("0::/elsewhere\n", root)).toEqual([]);
    expect(groupParents("", root)).toEqual([]);
  });
});

describe("removeCgroup()", () => {
  it.each([
    "/tmp/acp-x",
    "/sys/fs/cgroup/../../tmp/acp-x",
    "/sys/fs/cgroup/pids",
    "/sys/fs/cgroup/user.slice",
    "",
  ])("leaves %j alone", async (path) => {
    expect(await removeCgroup(path)).toBe(false);
  });

  it("is done where there is none", async () => {
    expect(await removeCgroup("/sys/fs/cgroup/pids/acp-there-is-none-of-this-name")).toBe(true);
  });
});

describe("capsItem()", () => {
  it("is enforced only where memory is limited too", () => {
    expect(
      capsItem({ limitsProcesses: true, limitsMemory: true }, DEFAULT_CAPS, true),
    ).toMatchObject({ enforcement: "enforced" });
    const partial = capsItem({ limitsProcesses: false, limitsMemory: false }, DEFAULT_CAPS, true);
    expect(partial).toMatchObject({
      aspect: "resource_caps",
      enforcement: "partial",
      fix: expect.any(String),
    });
    expect(partial.reason).toContain("memory is not limited");
    expect(partial.reason).toContain("number of files is not limited");
    const asked = { ...DEFAULT_CAPS, memoryBytes: 2 ** 30, processMemoryBytes: 2 ** 30 };
    const each = capsItem({ limitsProcesses: false, limitsMemory: false }, asked, true);
    expect([each.enforcement, each.reason]).toEqual([
      "partial",
      expect.stringContaining(`memory per process: ${2 ** 30} bytes`),
    ]);
    expect(capsItem({ limitsProcesses: true, limitsMemory: true }, asked, true).reason).toContain(
      `, ${2 ** 30} bytes of memory`,
    );
    expect(capsItem({ limitsProcesses: true, limitsMemory: false }, asked, false).reason).toContain(
      "memory is not limited",
    );
  });
});
