import { describe, expect, it } from "vitest";
import { runProgram } from "./run-program.js";
import { trustedProgram, type TrustedProgram } from "./trusted-program.js";

function tool(name: string): TrustedProgram {
  const found = trustedProgram(name);
  if ("reason" in found) throw new Error(found.reason);
  return found;
}
const sh = tool("sh");

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
