import { userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { codeDirectory, codePlaces, helperDirectory } from "./helper-directory.js";
import { checkPlaces } from "./workspace.js";

const isRoot = process.getuid?.() === 0;
const before = { ...process.env };

afterEach(() => {
  for (const name of ["HOME", "XDG_CACHE_HOME"]) {
    const value = before[name];
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

describe("codeDirectory()", () => {
  it("is where neither HOME nor XDG_CACHE_HOME can move it", () => {
    const known = codeDirectory();
    process.env["HOME"] = "/tmp/elsewhere";
    process.env["XDG_CACHE_HOME"] = "/tmp/elsewhere/cache";
    expect(codeDirectory()).toBe(known);
    if (isRoot) expect(known).toBe("/var/cache/acp-sandbox");
    else if (known !== undefined)
      expect(known).toBe(join(userInfo().homedir, ".cache/acp-sandbox"));
  });

  it("stays hidden with the helpers' directory, also where that was moved", () => {
    process.env["XDG_CACHE_HOME"] = "/tmp/elsewhere/cache";
    const code = codeDirectory();
    expect(codePlaces()).toContain(helperDirectory());
    if (code !== undefined) expect(codePlaces()).toContain(code);
    for (const place of codePlaces()) expect(checkPlaces({}).hidden).toContain(place);
  });
});
