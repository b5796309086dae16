import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import {
  childrenOf,
  descendantsOf,
  endTree,
  gone,
  isRunning,
  markProcess,
  pidNamespace,
  type ProcessMark,
  processesNaming,
  signalProcess,
} from "./process-tree.js";

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

/** A shell with a child and a grandchild, when all of them run. */
async function family(): Promise<{ child: ChildProcess; mark: ProcessMark }> {
  const child = spawn("bash", ["-c", "bash -c 'sleep 600 & echo ready; wait' & wait"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  started.push(child);
  if (child.stdout !== null) await once(child.stdout, "data");
  const mark = markProcess(child.pid ?? -1);
  if (mark === undefined) throw new Error("no child");
  return { child, mark };
}

describe("markProcess(), isRunning()", () => {
  it("tell a process from a later one of the same pid, and a zombie from a process", async () => {
    const { child, mark } = await family();
    expect(isRunning(mark)).toBe(true);
    expect(isRunning({ ...mark, start: "1" })).toBe(false);
    for (const pid of descendantsOf(mark.pid)) process.kill(pid, "SIGKILL");
    child.kill("SIGKILL");
    await gone(mark); // before Node has reaped it, or after
    expect(isRunning(mark)).toBe(false);
    expect(markProcess(2 ** 22 + 1)).toBeUndefined();
  });

  it("read a program's name with parentheses and spaces in it", async () => {
    const child = spawn(
      process.execPath,
      ["-e", "process.title = ') R 1 1 (x'; console.log(1); setTimeout(() => {}, 1e6)"],
      {
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    started.push(child);
    if (child.stdout !== null) await once(child.stdout, "data");
    expect(childrenOf(process.pid)).toContain(child.pid);
    expect(Number(markProcess(child.pid ?? 0)?.start)).toBeGreaterThan(1);
  });
});

describe("childrenOf(), descendantsOf(), processesNaming()", () => {
  it("find the family of a process", async () => {
    const { mark } = await family();
    expect(childrenOf(process.pid)).toContain(mark.pid);
    const [child] = childrenOf(mark.pid);
    expect(descendantsOf(mark.pid)).toEqual([child, ...childrenOf(child ?? 0)]);
    expect(descendantsOf(mark.pid)).toHaveLength(2);
    expect(processesNaming("sleep 600 & echo ready")).toContain(mark.pid);
    expect(processesNaming("sleep 600 & echo ready")).not.toContain(process.pid);
  });
});

describe("endTree()", () => {
  it("kills all of a family, also those that ignore signals", async () => {
    const { mark } = await family();
    const marks = descendantsOf(mark.pid).map(markProcess);
    await endTree(mark);
    expect(isRunning(mark)).toBe(false);
    expect(marks.map((each) => each !== undefined && isRunning(each))).toEqual([false, false]);
  });

  it("resolves for a process that is gone", async () => {
    await endTree({ pid: 2 ** 22 + 1, start: "1" });
  });
});

describe("signalProcess()", () => {
  it("says whether there was such a process", async () => {
    const { child, mark } = await family();
    expect(signalProcess({ ...mark, start: "1" }, "SIGKILL")).toBe(false);
    const exit = once(child, "exit");
    expect(signalProcess(mark, "SIGKILL")).toBe(true);
    expect(await exit).toEqual([null, "SIGKILL"]);
  });
});

describe("pidNamespace()", () => {
  it("is a number", () => {
    expect(pidNamespace()).toMatch(/^\d+$/u);
  });
});
