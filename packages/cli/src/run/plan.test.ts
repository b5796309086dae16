import { describe, expect, it } from "vitest";
import { readCommandLine } from "../command-line.js";
import { COMMANDS } from "../commands.js";
import type { Io } from "../command.js";
import { readPlan } from "./plan.js";
import type { RunPlan } from "./plan.js";

/** Everything else of an Io is not looked at. */
const io = { cwd: "/work/project", env: {} } as unknown as Io;

function planOf(...words: readonly string[]): RunPlan {
  return readPlan({ ...readCommandLine(["run", ...words], COMMANDS), io });
}

describe("readPlan()", () => {
  it("without options takes the better barrier, in the current directory", () => {
    expect(planOf("--", "agent", "--sandbox", "env")).toEqual({
      argv: ["agent", "--sandbox", "env"],
      sandboxes: ["namespace", "landlock"],
      requiredLevel: "partial",
      speaksMcp: false,
      workspace: { path: "/work/project", access: "read-write" },
      readable: [],
      env: [],
      unixSockets: "none",
      dns: "closed",
      hostPorts: [],
    });
  });

  it("takes every option", () => {
    const words = [
      "--sandbox",
      "uid",
      "--require",
      "uid",
      "--mcp",
      "stdio",
      "--workspace",
      "sub",
      "--read-only",
      "--read",
      "/a,b",
    ];
    expect(
      planOf(
        ...words,
        "--user",
        "bob",
        "--env",
        "A,B",
        "--unix-sockets",
        "--dns",
        "system",
        "--",
        "agent",
      ),
    ).toEqual({
      argv: ["agent"],
      sandboxes: ["uid"],
      requiredLevel: "uid",
      speaksMcp: true,
      workspace: { path: "/work/project/sub", access: "read-only" },
      readable: ["/a", "/work/project/b"],
      user: "bob",
      env: ["A", "B"],
      unixSockets: "private",
      dns: "system",
      hostPorts: [],
    });
  });

  it("takes a size of memory where it limits something", () => {
    expect(planOf("--memory", "4g", "--", "agent").memoryBytes).toBe(4 * 2 ** 30);
    for (const sandbox of ["uid", "preload", "env"])
      expect(() => planOf("--sandbox", sandbox, "--memory", "4g", "--", "agent")).toThrow(
        /^Cannot use --memory with --sandbox/u,
      );
  });

  it("takes what stays writable, from the workspace on", () => {
    expect(
      planOf(
        "--workspace",
        "sub",
        "--write",
        ".vscode,/work/project/sub/.git/config",
        "--",
        "agent",
      ).workspace,
    ).toEqual({
      path: "/work/project/sub",
      access: "read-write",
      writable: ["/work/project/sub/.vscode", "/work/project/sub/.git/config"],
    });
    for (const words of [
      ["--write", "../x"],
      ["--write", "/etc"],
      ["--write", "a,"],
      ["--read-only", "--write", "a"],
    ])
      expect(() => planOf(...words, "--", "agent")).toThrow(
        expect.objectContaining({ code: "options_invalid" }),
      );
    expect(() => planOf("--openclaw-user", "x", "--write", "a", "--", "agent")).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });

  it("takes ports of this machine, where localhost is the command's own", () => {
    expect(planOf("--host-port", "5432,6379", "--", "agent").hostPorts).toEqual([5432, 6379]);
    for (const text of ["80", "0", "65536", "x", "5432,", "-1", "1e4", "05432x", ""])
      expect(() => planOf("--host-port", text, "--", "agent")).toThrow(
        expect.objectContaining({ code: "options_invalid" }),
      );
    expect(() => planOf("--host-port", "5432", "--sandbox", "landlock", "--", "agent")).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });

  it("runs an OpenClaw user in sandbox uid, in that user's home", () => {
    const plan = planOf("--openclaw-user", "openclaw", "--", "agent");
    expect(plan).toMatchObject({ sandboxes: ["uid"], user: "openclaw", openclawUser: "openclaw" });
    expect(plan).not.toHaveProperty("workspace");
    expect(
      planOf("--openclaw-user", "openclaw", "--workspace", "/w", "--", "agent").workspace?.path,
    ).toBe("/w");
  });

  it.each(["preload", "env", "uid", "landlock", "namespace"])(
    "starts nothing but %s where that is named",
    (name) => {
      expect(planOf("--sandbox", name, "--", "agent").sandboxes).toEqual([name]);
    },
  );

  it.each(["preload", "env", "uid"])(
    "never takes %s by itself, whatever level is required",
    (name) => {
      for (const more of [
        [],
        ["--sandbox", "auto"],
        ["--require", "uid"],
        ["--require", "partial"],
      ])
        expect(planOf(...more, "--", "agent").sandboxes).not.toContain(name);
    },
  );

  it.each([
    [["--"], "there is no command", undefined],
    [["--sandbox", "namspace", "--", "a"], '--sandbox "namspace"', "namespace"],
    [["--sandbox", "land-lock", "--", "a"], '--sandbox "land-lock"', "landlock"],
    [["--require", "none", "--", "a"], '--require "none"', undefined],
    [["--require", "ful", "--", "a"], '--require "ful"', "full"],
    [["--mcp", "http", "--", "a"], '--mcp "http"', undefined],
    [["--env", "A,,B", "--", "a"], "an entry is empty", undefined],
    [["--read", ",", "--", "a"], "an entry is empty", undefined],
    [["--tty", "--", "a"], '"--tty"', undefined],
    [["--dns", "system", "--", "a"], "belongs to --sandbox uid", undefined],
    [["--openclaw-user", "b", "--sandbox", "env", "--", "a"], "with --sandbox env", undefined],
    [["--openclaw-user", "b", "--user", "c", "--", "a"], "with --user", undefined],
    [["--openclaw-user", "b", "--home", "/c", "--", "a"], "with --home", undefined],
    [["agent"], "write -- before the command", undefined],
  ])("refuses %j", (words, text, suggestion) => {
    expect(() => planOf(...words)).toThrow(
      expect.objectContaining({
        code: "options_invalid",
        message: expect.stringContaining(text),
        ...(suggestion !== undefined && { suggestion }),
      }),
    );
  });
});
