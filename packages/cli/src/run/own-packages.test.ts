import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ownPackages } from "./own-packages.js";

let scratch: string;
beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "acp-packages-")));
});
afterEach(() => rmSync(scratch, { recursive: true }));

function install(
  at: string,
  name: string,
  dependencies: Readonly<Record<string, string>> = {},
): string {
  const directory = join(scratch, at);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), JSON.stringify({ name, dependencies }));
  return directory;
}

describe("ownPackages()", () => {
  it("finds this package and all that it loads", () => {
    const names = ownPackages().map((directory) => basename(directory));
    expect(names).toEqual(
      expect.arrayContaining(["cli", "core", "host", "sandbox-linux", "unbash", "curves"]),
    );
  });

  it("follows links and nests, each package once, by its real path", () => {
    const start = install("a", "@x/a", { b: "1", "@x/c": "1" });
    const store = install("store/b", "b", { "@x/c": "1" });
    mkdirSync(join(start, "node_modules"));
    symlinkSync(store, join(start, "node_modules/b"));
    const c = install("node_modules/@x/c", "@x/c", { b: "1" });
    mkdirSync(join(scratch, "node_modules/@x/c/node_modules"));
    symlinkSync(store, join(scratch, "node_modules/@x/c/node_modules/b"));
    expect(ownPackages(start)).toEqual([start, store, c]);
  });

  it("throws options_invalid where a package is missing", () => {
    const start = install("a", "@x/a", { "is-not-there": "1" });
    expect(() => ownPackages(start)).toThrow(
      expect.objectContaining({
        code: "options_invalid",
        message: expect.stringContaining("is-not-there"),
      }),
    );
  });
});
