import { describe, expect, it, vi } from "vitest";
import { runProgram } from "./run-program.js";
import { hasOutput, startProgram } from "./start-program.js";
import { trustedProgram, type TrustedProgram } from "./trusted-program.js";

function tool(name: string): TrustedProgram {
  const found = trustedProgram(name);
  if ("reason" in found) throw new Error(found.reason);
  return found;
}
const sh = tool("sh");

describe("startProgram()", () => {
  it("throws options_invalid for what was not looked at", () => {
    const shaped = { path: "/bin/sh" };
    expect(() => startProgram(shaped, [], { env: {} })).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });

  it("gives nothing of our environment, and starts at the root", async () => {
    vi.stubEnv("LD_PRELOAD_OF_OURS", "1");
    const { stdout } = await runProgram(tool("env"), [], { env: { A: "1" } });
    vi.unstubAllEnvs();
    expect(stdout).toBe("A=1\n");
    expect(await runProgram(sh, ["-c", "pwd"], { env: {} })).toEqual({
      code: 0,
      stdout: "/\n",
      stderr: "",
    });
    expect(await runProgram(sh, ["-c", "pwd"], { env: {}, cwd: "/usr" })).toMatchObject({
      stdout: "/usr\n",
    });
  });

  it("has the outputs that were asked for", async () => {
    const child = startProgram(sh, ["-c", "exit 0"], {
      env: {},
      stdio: ["ignore", "ignore", "ignore"],
    });
    expect(hasOutput(child)).toBe(false);
    await new Promise((resolve) => child.once("close", resolve));
    const loud = startProgram(sh, ["-c", "exit 0"], { env: {} });
    expect(hasOutput(loud)).toBe(true);
    loud.stdout?.resume();
    loud.stderr?.resume();
    loud.stdin?.end();
    await new Promise((resolve) => loud.once("close", resolve));
  });
});
