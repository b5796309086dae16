import { describe, expect, it } from "vitest";
import { homePaths, resolveHome, resolvePath } from "./paths.js";

const homeDir = "/home/ada";

describe("resolveHome()", () => {
  it("takes the flag, then the variable, then .acp", () => {
    expect(resolveHome({ flag: "/f", env: "/e", homeDir })).toBe("/f");
    expect(resolveHome({ env: "/e", homeDir })).toBe("/e");
    expect(resolveHome({ homeDir })).toBe("/home/ada/.acp");
  });

  it("refuses an empty name rather than take the next one", () => {
    expect(() => resolveHome({ flag: "", env: "/e", homeDir })).toThrow(
      expect.objectContaining({ code: "home_invalid" }),
    );
    expect(() => resolveHome({ env: "", homeDir })).toThrow(
      expect.objectContaining({ code: "home_invalid" }),
    );
  });
});

describe("resolvePath()", () => {
  it.each([
    ["~", "/home/ada"],
    ["~/x", "/home/ada/x"],
    ["/a/../b/", "/b/"],
    ["x/../y", "/work/y"],
    ["./~", "/work/~"],
  ])("reads %s as %s", (path, want) => {
    expect(resolvePath(path, { homeDir, cwd: "/work" })).toBe(want);
  });

  it.each(["", "~bob/x", "~x", "a\0b"])("refuses %j", (path) => {
    expect(() => resolvePath(path, { homeDir, cwd: "/work" })).toThrow(
      expect.objectContaining({ code: "home_invalid" }),
    );
  });

  it("refuses a relative path that has nothing to start from", () => {
    expect(() => resolvePath("x", { homeDir })).toThrow('Cannot use path "x": it is relative');
  });
});

describe("homePaths()", () => {
  it("names the files of a home", () => {
    expect(homePaths("/h")).toEqual({
      dir: "/h",
      configPath: "/h/config.yml",
      policyPath: "/h/policy.yml",
      pausePath: "/h/paused.json",
      pausedAgentsDir: "/h/paused-agents",
      keysDir: "/h/keys",
      privateKeyPath: "/h/keys/private.key",
      publicKeyPath: "/h/keys/public.key",
      recordKeyPath: "/h/record.key",
      toolPinsPath: "/h/tool-pins.json",
      toolTextsDir: "/h/tool-texts",
      vaultPath: "/h/vault.json",
      grantsPath: "/h/grants.json",
      passkeysPath: "/h/passkeys.json",
    });
  });
});
