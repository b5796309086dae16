import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Script } from "node:vm";
import { hostNeed } from "@acp/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openKeptCode } from "./kept-code.js";
import type { ProgramFile } from "./kept-code.js";

const TEXT = "(function () { return [1, 2, 3].map((each) => each * 2); })";
const root = hostNeed("root", () =>
  process.getuid?.() === 0 ? undefined : "files of other users are root's to make",
);
const note = root.run ? "" : ` [${root.reason}]`;

let scratch: string;
let directory: string;
let program: ProgramFile;
beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "acp-kept-")));
  directory = join(scratch, "kept");
  mkdirSync(directory, { mode: 0o700 });
  program = fileOf("program.cjs", TEXT);
});
afterEach(() => rmSync(scratch, { recursive: true }));

function fileOf(name: string, text: string): ProgramFile {
  const path = join(scratch, name);
  writeFileSync(path, text);
  return { path, stats: statSync(path, { bigint: true }) };
}

function keep(of = program): string {
  const script = new Script(TEXT);
  script.runInThisContext()();
  openKeptCode(directory, of)?.keep(script);
  const [name = ""] = readdirSync(directory);
  return join(directory, name);
}

const found = (of = program): Buffer | undefined => openKeptCode(directory, of)?.code;

describe("openKeptCode()", () => {
  it("finds what the last start kept, and V8 takes it", () => {
    expect(found()).toBeUndefined();
    const path = keep();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const code = found();
    const script = new Script(TEXT, { ...(code !== undefined && { cachedData: code }) });
    expect(script.cachedDataRejected).toBe(false);
    expect(script.runInThisContext()()).toEqual([2, 4, 6]);
  });

  it("finds nothing for a program that was changed, also one of the same length and times", () => {
    keep();
    const before = program.stats;
    const changed = fileOf("other.cjs", TEXT.replace("* 2", "* 3"));
    renameSync(changed.path, program.path);
    const after = statSync(program.path, { bigint: true });
    expect(after.size).toBe(before.size);
    expect(found({ path: program.path, stats: after })).toBeUndefined();
    const sameTimes = { ...before, ino: before.ino + 1n };
    expect(found({ path: program.path, stats: sameTimes })).toBeUndefined();
    expect(found({ path: `${program.path}2`, stats: before })).toBeUndefined();
    expect(found()).toBeDefined();
  });

  it("finds nothing where a byte is not as it was written", () => {
    const path = keep();
    const kept = readFileSync(path);
    for (const at of [0, 40, kept.length - 1]) {
      const damaged = Buffer.from(kept);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      writeFileSync(path, damaged);
      expect(found()).toBeUndefined();
    }
    writeFileSync(path, kept.subarray(0, kept.length / 2));
    expect(found()).toBeUndefined();
    writeFileSync(path, "");
    expect(found()).toBeUndefined();
  });

  it.each([
    ["a file that everybody can change", (path: string) => chmodSync(path, 0o606)],
    [
      "a link to one",
      (path: string) => {
        renameSync(path, join(scratch, "elsewhere"));
        symlinkSync(join(scratch, "elsewhere"), path);
      },
    ],
  ])("does not take %s", (_, make) => {
    const path = keep();
    expect(found()).toBeDefined();
    make(path);
    expect(found()).toBeUndefined();
  });

  it.runIf(root.run)(
    `does not take what another user owns, or owned the directory of${note}`,
    () => {
      const path = keep();
      chownSync(path, 61_042, 61_042);
      expect(found()).toBeUndefined();
      chownSync(path, 0, 0);
      expect(found()).toBeDefined();
      chownSync(directory, 61_042, 61_042);
      expect(openKeptCode(directory, program)).toBeUndefined();
    },
  );

  it("neither makes a directory nor uses one that others can change", () => {
    expect(openKeptCode(join(scratch, "none"), program)).toBeUndefined();
    chmodSync(directory, 0o707);
    expect(openKeptCode(directory, program)).toBeUndefined();
    expect(readdirSync(scratch).sort()).toEqual(["kept", "program.cjs"]);
  });

  it("keeps the code of a few builds, and touches nothing else there", () => {
    writeFileSync(join(directory, "init-x64"), "");
    for (let build = 0; build < 9; build++) keep(fileOf("program.cjs", " ".repeat(build) + TEXT));
    const names = readdirSync(directory);
    expect(names).toContain("init-x64");
    expect(names.length).toBeLessThanOrEqual(5);
    expect(found({ ...program, stats: statSync(program.path, { bigint: true }) })).toBeDefined();
  });

  it("fails no start where nothing can be kept", () => {
    const kept = openKeptCode(directory, program);
    rmSync(directory, { recursive: true });
    expect(() => kept?.keep(new Script(TEXT))).not.toThrow();
    expect(readdirSync(scratch)).toEqual(["program.cjs"]);
  });
});
