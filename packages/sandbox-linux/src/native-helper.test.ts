import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hostNeed } from "@acp/testing";
import { afterAll, describe, expect, it } from "vitest";
import { nativeHelper } from "./native-helper.js";

const root = mkdtempSync(join(tmpdir(), "acp-helper-"));
let count = 0;
const fresh = (): string => join(root, `${(count += 1)}`);
const need = hostNeed("cc", () => spawnSync("cc", ["--version"]).error?.message);
const note = need.run ? "" : ` [${need.reason}]`;

/** A compiler that does what a script says; what it is called with is in "$@". */
function fakeCompiler(script: string): string {
  const path = join(root, `cc-${(count += 1)}`);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

afterAll(() => {
  rmSync(root, { recursive: true });
});

describe("nativeHelper()", () => {
  it.runIf(need.run)(`compiles once, and says which Landlock there is${note}`, async () => {
    const directory = fresh();
    const first = await nativeHelper({ directory });
    expect(first).toMatchObject({ isAvailable: true, landlockAbi: expect.any(Number) });
    expect(readdirSync(directory).length).toBe(1);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    // No compiler is needed any more.
    expect(await nativeHelper({ directory, compiler: join(root, "nothing") })).toEqual(first);
  });

  it.runIf(need.run)(`gives the same whole file to everybody who asks at once${note}`, async () => {
    const directory = fresh();
    const all = await Promise.all(Array.from({ length: 6 }, () => nativeHelper({ directory })));
    expect(new Set(all.map((helper) => JSON.stringify(helper))).size).toBe(1);
    expect(all[0]?.isAvailable).toBe(true);
    expect(readdirSync(directory).length).toBe(1);
  });

  it.runIf(need.run)(`compiles again what does not run${note}`, async () => {
    const directory = fresh();
    const helper = await nativeHelper({ directory });
    const path = helper.isAvailable ? helper.path : "";
    writeFileSync(path, "damaged");
    expect(await nativeHelper({ directory })).toEqual(helper);
  });

  it.runIf(need.run)(`takes no file that others can write, and no link${note}`, async () => {
    const directory = fresh();
    const helper = await nativeHelper({ directory });
    const path = helper.isAvailable ? helper.path : "";
    chmodSync(path, 0o722);
    expect(await nativeHelper({ directory, compiler: join(root, "nothing") })).toMatchObject({
      isAvailable: false,
    });
    rmSync(path);
    symlinkSync("/bin/true", path);
    expect(await nativeHelper({ directory })).toEqual(helper);
    expect(statSync(path).isFile()).toBe(true);
  });

  it("says what to install where there is no compiler", async () => {
    expect(await nativeHelper({ directory: fresh(), compiler: join(root, "nothing") })).toEqual({
      isAvailable: false,
      reason: expect.stringContaining("there is no C compiler"),
      fix: expect.stringContaining("Install a C compiler"),
    });
  });

  it("says what the compiler said, and leaves nothing", async () => {
    const directory = fresh();
    const compiler = fakeCompiler(
      "echo 'confine.c:1: fatal error: stdio.h: No such file or directory' >&2; exit 1",
    );
    expect(await nativeHelper({ directory, compiler })).toMatchObject({
      isAvailable: false,
      reason: expect.stringContaining("fatal error: stdio.h"),
    });
    expect(readdirSync(directory)).toEqual([]);
  });

  it("says so where what was compiled does not run", async () => {
    const compiler = fakeCompiler('while [ "$1" != -o ]; do shift; done; echo nothing > "$2"');
    expect(await nativeHelper({ directory: fresh(), compiler })).toMatchObject({
      isAvailable: false,
      reason: expect.stringContaining("does not run"),
    });
  });

  it("refuses a directory that others can write, or that lies in one", async () => {
    const open = fresh();
    mkdirSync(open);
    chmodSync(open, 0o777);
    for (const directory of [open, join(open, "below")]) {
      const helper = await nativeHelper({ directory });
      expect(helper).toMatchObject({
        isAvailable: false,
        reason: expect.stringContaining("is writable by all users"),
      });
      expect(
        existsSync(directory)
          ? readdirSync(directory).filter((name) => name.startsWith("confine"))
          : [],
      ).toEqual([]);
    }
  });
});
