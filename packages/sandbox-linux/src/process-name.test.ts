import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { isProcessGone, ownProcessName } from "./process-name.js";
import { markProcess, pidNamespace } from "./process-tree.js";

describe("process names", () => {
  it("are of this process as long as it runs, and of no other with its number", () => {
    const own = ownProcessName();
    expect(isProcessGone(own)).toBe(false);
    expect(isProcessGone(own.replace(/\d+$/u, "1"))).toBe(true);
  });

  it("are gone with their process", async () => {
    const child = spawn("sleep", ["60"]);
    const mark = markProcess(child.pid ?? -1);
    const name = `${pidNamespace()}-${child.pid}-${mark?.start ?? ""}`;
    expect(isProcessGone(name)).toBe(false);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(isProcessGone(name)).toBe(true);
  });

  it("of another namespace, and what is no name, are left alone", () => {
    expect(isProcessGone("1-2-3")).toBe(false);
    for (const text of ["", "x", "../../etc", `${ownProcessName()}-ffffffff`])
      expect(isProcessGone(text)).toBe(false);
  });
});
