import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isTrustedProgram, trustedDirectories, trustedProgram } from "./trusted-program.js";

let scratch: string;
beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "acp-program-")));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(scratch, { recursive: true });
});

function program(folder: string, name: string, mode = 0o755): string {
  mkdirSync(join(scratch, folder), { recursive: true });
  const path = join(scratch, folder, name);
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, mode);
  return path;
}

describe("trustedProgram()", () => {
  it("finds a name among the system's programs, whatever PATH says", () => {
    program("bin", "env");
    vi.stubEnv("PATH", join(scratch, "bin"));
    expect(trustedProgram("env")).toEqual({ path: "/usr/bin/env" });
  });

  it("finds a name in the directories that are given, and passes over what is not trusted", () => {
    const [planted, own] = [program("work/.bin", "tool"), program("bin", "tool")];
    const directories = ["relative", join(scratch, "work/.bin"), join(scratch, "bin")];
    expect(trustedProgram("tool", { directories })).toEqual({ path: planted });
    expect(trustedProgram("tool", { directories, workspaces: [join(scratch, "work")] })).toEqual({
      path: own,
    });
  });

  it("says why there is none: first that one is not trusted, then that there is none", () => {
    program("bin", "tool", 0o777);
    const directories = [join(scratch, "bin"), "/nowhere"];
    expect(trustedProgram("tool", { directories })).toEqual({
      reason: expect.stringContaining("writable by all users"),
      isMissing: false,
    });
    expect(trustedProgram("other", { directories })).toEqual({
      reason: '"other" is not installed',
      isMissing: true,
    });
    expect(trustedProgram(program("bin", "text", 0o644))).toEqual({
      reason: expect.stringContaining("not a program"),
      isMissing: false,
    });
    expect(trustedProgram(scratch)).toEqual({
      reason: expect.stringContaining("not a program"),
      isMissing: false,
    });
  });

  it.each(["", ".", "..", "a/b", "-x", "a b", "a\0b", "../bin/sh"])(
    "takes no name like %j",
    (name) => {
      expect(trustedProgram(name)).toMatchObject({
        reason: expect.stringContaining("not the name of a program"),
        isMissing: false,
      });
    },
  );

  it("makes programs that are known, not shaped", () => {
    const made = trustedProgram("/usr/bin/env");
    expect(isTrustedProgram(made)).toBe(true);
    expect(isTrustedProgram({ ...made })).toBe(false);
    expect(Object.isFrozen(made)).toBe(true);
  });
});

describe("trustedDirectories()", () => {
  it("leaves out what is relative, in a workspace, others' or not there", () => {
    program("work/node_modules/.bin", "node");
    mkdirSync(join(scratch, "open"));
    chmodSync(join(scratch, "open"), 0o777);
    const path = [
      "node_modules/.bin",
      join(scratch, "work/node_modules/.bin"),
      "",
      join(scratch, "open"),
      "/nowhere",
      "/usr/bin",
    ];
    expect(
      trustedDirectories(path.join(delimiter), { workspaces: [join(scratch, "work")] }),
    ).toEqual(["/usr/bin"]);
  });
});
