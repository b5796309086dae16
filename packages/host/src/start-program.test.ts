import { describe, expect, it, vi } from "vitest";
import { hasOutput, runProgram, startProgram } from "./start-program.js";
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

describe("runProgram()", () => {
  it("gives exit code and output", async () => {
    expect(
      await runProgram(sh, ["-c", "cat; echo no >&2; exit 3"], { env: {}, input: "in" }),
    ).toEqual({
      code: 3,
      stdout: "in",
      stderr: "no\n",
    });
  });

  it.each([
    ["a signal", "kill -9 $$", {}, "ended by SIGKILL"],
    [
      "too much output",
      "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done",
      { outputBytesMax: 1_000 },
      "too much output",
    ],
    ["its time", "sleep 600", { timeoutMs: 20 }, "timed out"],
    [
      "its time, with what it has started,",
      "sleep 600 & sleep 600; exit 0",
      { timeoutMs: 300 },
      "timed out",
    ],
    [
      "its time, with what got away from it,",
      "setsid sleep 3 & sleep 600; exit 0",
      { timeoutMs: 300 },
      "timed out",
    ],
    ["a directory that is not there", "exit 0", { cwd: "/nowhere" }, "ENOENT"],
  ])("says that %s ended it", async (_, script, options, failure) => {
    const result = await runProgram(sh, ["-c", script], {
      env: { PATH: "/usr/bin:/bin" },
      ...options,
    });
    expect(result).toMatchObject({ failure });
    expect("code" in result).toBe(false);
  });

  it("ends with its signal, and starts nothing after it", async () => {
    const stop = new AbortController();
    const running = runProgram(tool("sleep"), ["600"], { env: {}, signal: stop.signal });
    stop.abort(new Error("enough"));
    expect(await running).toMatchObject({ failure: "aborted" });
    await expect(runProgram(sh, [], { env: {}, signal: stop.signal })).rejects.toThrow("enough");
  });

  it("takes input that nobody reads", async () => {
    expect(
      await runProgram(sh, ["-c", "exit 0"], { env: {}, input: "x".repeat(1_000_000) }),
    ).toMatchObject({ code: 0 });
  });
});
